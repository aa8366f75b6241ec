import { countText } from '../../base/units.ts';
import type { Client } from '../../contract/ports.ts';
import { balanceText, estimateText } from './permission.ts';

/** The result of a run, for commands that count results. */
export interface RunOutcome {
  /** The result in words: `3 of 4 found`; null for a command that reports its result and its cost itself. */
  readonly text: string | null;
  /** The number of results so far. */
  readonly total: number;
  /** The numbers of results that were found, not found, and failed, where they mean something. */
  readonly found?: number;
  readonly missing?: number;
  readonly failed?: number;
}

interface CostLineParts {
  readonly client:
    | { readonly spent: Client['spent']; readonly left: Pick<Client['left'], 'key'> }
    | undefined;
  readonly outcome: RunOutcome | undefined;
  readonly isSandbox: boolean;
  readonly isInterrupted: boolean;
  /** Whether the answers were cached, so that requesting them again is free. */
  readonly isCached: boolean;
}

/**
 * The last line of a run: its result, its cost, and what is left if known. Undefined if the run sent no paid
 * call and has no result.
 */
export function costLine(parts: CostLineParts): string | undefined {
  const { client, outcome, isSandbox, isInterrupted, isCached } = parts;
  if (outcome?.text === null) return undefined;
  const { cu = 0, atMost = 0 } = client?.spent ?? {};
  if (atMost === 0 && (outcome === undefined || outcome.total === 0)) return undefined;
  const units = isSandbox ? undefined : client?.left.key?.units;
  const cost = `${estimateText({ least: cu, most: atMost })}${isSandbox && atMost > 0 ? ' (sandbox)' : ''}`;
  const line = [
    ...(outcome === undefined ? [] : [outcome.text]),
    cost,
    ...(typeof units === 'number' ? [balanceText(units)] : []),
  ].join(', ');
  if (!isInterrupted) return line;
  const saved = isCached && outcome && outcome.total > 0 ? `; ${cachedText(outcome.total)}` : '';
  return `interrupted: ${line}${saved}`;
}

const cachedText = (count: number) =>
  count === 1 ? '1 answer is cached' : `${countText(count, 'answer')} are cached`;
