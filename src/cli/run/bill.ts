import { countText } from '../../base/units.ts';
import type { Client } from '../../contract/ports/client.ts';
import { balanceText, estimateText } from '../../output/cost-text.ts';

/** What a run has found so far, for commands that count results. */
export interface RunOutcome {
  /**
   * The result in words: `3 of 4 found`; null for a command that reports its result and its cost
   * itself.
   */
  readonly text: string | null;
  /** The number of results so far. */
  readonly total: number;
  /** The numbers of results that were found, not found, and failed, where they mean something. */
  readonly found?: number;
  readonly missing?: number;
  readonly failed?: number;
}

/**
 * What a run has cost, and for which result. It exists before the settings are read, because a run
 * that fails at its settings has a receipt too.
 */
export class Bill {
  readonly command: string;
  readonly isSandbox: boolean;
  /** The client of the run, once it is open: it counts what its calls cost. */
  client: Client | undefined;
  outcome: RunOutcome | undefined;
  /** Whether the answers are cached, so that the same command need not pay for them again. */
  isCached = false;

  constructor(command: string, isSandbox: boolean) {
    this.command = command;
    this.isSandbox = isSandbox;
  }

  /**
   * The CU that this run has spent so far, without the possible cost of calls whose answers were
   * lost.
   */
  get spent(): number {
    return this.client?.spent.cu ?? 0;
  }

  /**
   * The CU that this run may have spent: the possible cost of calls whose answers were lost is
   * included.
   */
  get atMost(): number {
    return this.client?.spent.atMost ?? 0;
  }

  get isPaid(): boolean {
    return this.atMost > 0;
  }

  /**
   * The rate limit of the key, if known, and the paid calls so far: they determine the remaining
   * time.
   */
  get pace(): { readonly perMinute: number | null; readonly calls: number } {
    return { perMinute: this.client?.ratePerMinute ?? null, calls: this.client?.spent.calls ?? 0 };
  }

  /**
   * The CU that the key has left, if known. The CU of the sandbox are not real, so its runs do not
   * print what is left.
   */
  get unitsLeft(): number | undefined {
    if (this.isSandbox) return undefined;
    return this.client?.left.key?.units ?? undefined;
  }

  /** The last line of a run; undefined if it sent no paid call and has no result. */
  line(isInterrupted: boolean): string | undefined {
    const { outcome, isPaid, unitsLeft } = this;
    if (outcome?.text === null) return undefined;
    const total = outcome?.total ?? 0;
    if (!isPaid && total === 0) return undefined;
    const cost = estimateText({ least: this.spent, most: this.atMost });
    const parts: string[] = [];
    if (outcome !== undefined) parts.push(outcome.text);
    parts.push(this.isSandbox && isPaid ? `${cost} (sandbox)` : cost);
    if (unitsLeft !== undefined) parts.push(balanceText(unitsLeft));
    const line = parts.join(', ');
    if (!isInterrupted) return line;
    const saved = `; ${countText(total, 'answer')} ${total === 1 ? 'is' : 'are'} cached`;
    return `interrupted: ${line}${this.isCached && total > 0 ? saved : ''}`;
  }

  /** The record of --receipt. JSON omits what is undefined. */
  receipt(): object {
    const { calls = 0, inFlight = 0, reveals = 0, revealsAtMost = 0 } = this.client?.spent ?? {};
    const { found, missing, failed } = this.outcome ?? {};
    return {
      command: this.command,
      calls,
      cu: this.spent,
      cuAtMost: this.atMost + inFlight,
      reveals,
      revealsAtMost,
      found,
      missing,
      failed,
      left: this.unitsLeft,
    };
  }
}
