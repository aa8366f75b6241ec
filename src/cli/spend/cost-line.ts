import type { Client } from '../../contract/ports.ts';
import { balanceText, countText, estimateText } from './estimate.ts';

/** The result of a run, as far as its command counts it. */
export interface RunOutcome {
  /** `3 of 4 found` */
  readonly text: string;
  /** Number of answers so far. */
  readonly total: number;
}

interface CostLineParts {
  readonly client: Pick<Client, 'spent' | 'left'> | undefined;
  /** The result; undefined if the command does not count it. */
  readonly outcome: RunOutcome | undefined;
  readonly isSandbox: boolean;
  readonly isInterrupted: boolean;
  /** Whether the answers were saved, so that repeating them is free. */
  readonly isCached: boolean;
}

/** The last line of a run that paid: its result, its cost, and what is left, if known. */
export function costLine(parts: CostLineParts): string | undefined {
  const { client, outcome, isSandbox, isInterrupted, isCached } = parts;
  const { cu = 0, atMost = 0 } = client?.spent ?? {};
  // Nothing was requested, or the run failed before it.
  if (atMost === 0 && (outcome === undefined || outcome.total === 0)) return undefined;
  const units = isSandbox ? undefined : client?.left?.units;
  const cost = `${estimateText({ least: cu, most: atMost })}${isSandbox && atMost > 0 ? ' of the sandbox' : ''}`;
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
