import { join } from 'node:path';

/** The UTC month of a time, which is the name of the ledger file. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
export const ledgerFolder = (dir: string): string => join(dir, 'ledger');
export const monthFile = (dir: string, month: string): string => join(ledgerFolder(dir), `${month}.ndjson`);
