import { join } from 'node:path';

/** The UTC month of a time: `2026-11`. Ledger files are named after their months. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
export const ledgerFolder = (dir: string): string => join(dir, 'ledger');
export const monthFile = (dir: string, month: string): string => join(ledgerFolder(dir), `${month}.ndjson`);
