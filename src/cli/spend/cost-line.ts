import type { Client } from '../../contract/ports.ts';
import { balanceText, countText, estimateText } from './estimate.ts';

/** What a run came to, as far as its command counts it. */
export interface RunOutcome {
  /** `3 of 4 found` */
  readonly text: string;
  /** Answers so far. */
  readonly total: number;
}

interface CostLineParts {
  readonly client: Pick<Client, 'spent' | 'left'> | undefined;
  /** What came out; undefined if the command does not count it. */
  readonly outcome: RunOutcome | undefined;
  readonly isSandbox: boolean;
  readonly isInterrupted: boolean;
  /** The answers were saved: repeating them is free. */
  readonly isCached: boolean;
}

/** The last line of a run that paid: what came out, what it cost, and what is left if that is known. */
export function costLine(parts: CostLineParts): string | undefined {
  const { client, outcome, isSandbox, isInterrupted, isCached } = parts;
  const { cu = 0, atMost = 0 } = client?.spent ?? {};
  if (atMost === 0 && outcome === undefined) return undefined;
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
