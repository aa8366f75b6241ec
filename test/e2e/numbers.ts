import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readLines } from '../../src/base/lines.ts';
import type { LedgerEntry } from '../../src/contract/ports/ledger.ts';
import type { Pnl } from '../../src/contract/records/pnl.ts';
import { generateRecords } from '../../src/sandbox/world/generate.ts';
import { createWorld } from '../../src/sandbox/world/world.ts';
import { ledgerEntries } from '../../src/state/ledger/read-ledger.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/service.ts';
import { type Home, withSandbox } from './harness.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const records = generateRecords(1, NOW, { traders: 3_000 });
const world = createWorld(records, 1);

/** The numbers of a handle at a fixed time, so that files can be compared. */
export const numbersOf = (handle: string): Pnl | undefined => world.pnl(handle);

/** Handles of the world; every tenth is unknown. */
export const someHandles = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) =>
    at % 10 === 9 ? `nobody${from + at}` : (world.handles()[from + at] ?? `nobody${from + at}`),
  );

export interface NumbersSandbox extends Sandbox {
  /** How often each handle was charged. */
  readonly served: ReadonlyMap<string, number>;
}

/** A sandbox with fixed numbers that counts charged handles, and whose traders keep their names however long it runs. */
export async function withNumbers(options: SandboxOptions = {}): Promise<NumbersSandbox> {
  const served = new Map<string, number>();
  const pnl = (handle: string) => {
    served.set(handle, (served.get(handle) ?? 0) + 1);
    return numbersOf(handle);
  };
  const sandbox = await withSandbox({
    plan: 'enterprise',
    ratePerMinute: 1_000_000,
    monthlyUnits: 1e12,
    ...options,
    world: Object.assign(createWorld(records, 1), { pnl, moveTo: () => {} }),
  });
  return Object.assign(Object.create(sandbox), { served });
}

export const priceOf = (handles: readonly string[]): number =>
  handles.reduce((sum, handle) => sum + (numbersOf(handle) ? 30_000 : 200), 0);

export const recordsOf = (handles: readonly string[]): Record<string, unknown>[] =>
  handles.map((subject) => {
    const pnl = numbersOf(subject.replace(/^@/, '').toLowerCase());
    return pnl ? { subject, found: true, ...pnl } : { subject, found: false, code: 'NOT_OBSERVED' };
  });

/** What the receipt of the only run of a home must state, by the ledger. */
export function receiptOf(home: Home) {
  const entries = ledgerOf(home);
  const cu = entries.reduce((sum, entry) => sum + entry.cu, 0);
  return {
    calls: entries.length,
    cu,
    cuAtMost: entries.reduce((sum, { cuAtMost = 0 }) => sum + cuAtMost, cu),
  };
}

export function ledgerOf(home: Home): LedgerEntry[] {
  const folder = join(home.state, 'ledger');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => [...ledgerEntries(readLines(join(folder, name)))]);
}
