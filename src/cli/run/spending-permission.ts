import { type Approval, Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { KeyMeters } from '../../contract/ports/client.ts';
import type { Estimate, KnownEstimate, PlanWords } from '../../core/spend/plan.ts';
import { balanceText, estimateText } from '../../output/cost-text.ts';
import { agentOf } from '../agent.ts';
import { commandWith } from '../command-line.ts';
import type { Terminal } from './terminal.ts';

interface Asker {
  readonly terminal: Pick<Terminal, 'io' | 'notice' | 'canAsk' | 'confirm'>;
  readonly confirmAbove: number;
  readonly maxCu: number | undefined;
  readonly maxReveals: number | undefined;
  readonly yes: boolean;
  readonly sandbox: boolean;
  readonly spent: () => number;
  readonly left: () => Promise<KeyMeters | undefined>;
  readonly budgets?: (() => Promise<readonly string[]>) | undefined;
}

export const moreText = (maxCu: number | undefined): string =>
  `to spend more in one run, ${maxCu === undefined ? 'pass --max-cu N or --yes' : 'raise --max-cu'}`;

export class SpendingPermission {
  /** The CU that the run may spend; undefined if there is no limit. */
  limit: number | undefined;
  /**
   * Lost answers are requested again within this cost. Undefined with a limit, at unknown cost, or
   * in the sandbox.
   */
  agreed: number | undefined;
  readonly hint: string | undefined;
  /** How many wallets the run may reveal. */
  readonly reveals: number | undefined;
  readonly #run: Asker;
  #open: PlanWords | undefined;
  #isDeclined = false;
  #asked: Promise<boolean> | undefined;

  constructor(run: Asker) {
    this.#run = run;
    this.limit = run.maxCu;
    this.reveals = run.maxReveals;
    this.hint = run.maxCu === undefined ? 'to spend more, pass --yes or --max-cu N' : undefined;
  }

  /**
   * Starts a run that may cost `estimate`, or an unknown amount. Returns the estimate if its
   * greatest cost is known. Throws if the user declines, or if nobody can be asked.
   */
  async start(words: PlanWords, estimate?: Estimate): Promise<KnownEstimate | undefined> {
    if (estimate === undefined || estimate.most === null) {
      this.#startOpen(words);
      return undefined;
    }
    const closed = { ...estimate, most: estimate.most };
    await this.#startKnown(words, closed);
    return closed;
  }

  async #startKnown(words: PlanWords, { least, most, reveals }: KnownEstimate): Promise<void> {
    const { terminal, sandbox, confirmAbove, maxCu, yes } = this.#run;
    if (sandbox || maxCu !== undefined) return;
    if (!yes && most <= confirmAbove) {
      // Repeating calls with lost answers can cost more than the estimate, so limit a run without a
      // confirmation.
      this.limit = confirmAbove;
      return;
    }
    if (!yes) {
      const cost = estimateText({ least, most });
      if (!terminal.canAsk) throw await this.#needsConfirmation(cost, least, most);
      const isAgreed = await this.#ask(words.costs(cost), words.cheaper, 'Continue', reveals ?? 0);
      if (!isAgreed) throw declined();
    }
    this.agreed = Math.max(this.agreed ?? 0, most, confirmAbove);
  }

  /**
   * A run of unknown cost starts at once, limited to `confirmAbove` without --max-cu, --yes or the
   * sandbox.
   */
  #startOpen(words: PlanWords): void {
    const { terminal, sandbox, yes, maxCu, confirmAbove } = this.#run;
    this.#open = words;
    if (!sandbox && !yes && maxCu === undefined) this.limit = confirmAbove;
    if (words.tellsLimit && this.limit !== undefined && terminal.io.stderr.isTTY === true)
      terminal.notice(this.withLimit('total cost not known in advance'));
  }

  withLimit(line: string): string {
    if (this.limit === undefined) return line;
    const raise = this.#run.maxCu === undefined ? ' (raise it with --max-cu)' : '';
    return `${line}; spending limit ${unitsText(this.limit)}${raise}`;
  }

  get #canRaise(): boolean {
    const { maxCu, terminal } = this.#run;
    return this.#open !== undefined && maxCu === undefined && !this.#isDeclined && terminal.canAsk;
  }

  /** Null if there is no limit, or the run can ask for more. */
  get left(): number | null {
    return this.limit === undefined || this.#canRaise ? null : this.limit - this.#run.spent();
  }

  /** Raises the limit, so that at least `most` CU can be spent in addition, if the user agrees. */
  async raise(most: number): Promise<boolean> {
    const { limit } = this;
    if (limit === undefined || !this.#canRaise) return false;
    this.#asked ??= this.#askForMore(limit, most).finally(() => {
      this.#asked = undefined;
    });
    return await this.#asked;
  }

  /** The failure of a run of unknown total cost at its limit; undefined for other runs. */
  stopped(): Failure | undefined {
    if (!this.#open || this.limit === undefined) return undefined;
    const spent = unitsText(this.#run.spent());
    const { message, hint } = this.#open.stopped?.(spent) ?? { message: `stopped after ${spent}` };
    const more = moreText(this.#run.maxCu);
    return new Failure('limit', message, {
      code: 'CEILING',
      hint: hint === undefined ? more : `${more}; ${hint}`,
    });
  }

  async #askForMore(now: number, most: number): Promise<boolean> {
    const spent = this.#run.spent();
    // At least twice the present limit, so that a long run seldom asks.
    const next = Math.max(2 * now, spent + most);
    const sentence = `This run has spent ${unitsText(spent)} of its limit of ${unitsText(now)}`;
    const answer = await this.#ask(sentence, this.#open?.rate, `Continue up to ${unitsText(next)}`);
    this.#isDeclined = answer !== true;
    if (!this.#isDeclined) this.limit = next;
    return !this.#isDeclined;
  }

  async #needsConfirmation(cost: string, least: number, most: number): Promise<Failure> {
    const { terminal, confirmAbove } = this.#run;
    const { argv, env } = terminal.io;
    const agent = agentOf(env);
    return new Failure(
      'confirm',
      `estimated cost ${cost} exceeds the confirmation threshold (${unitsText(confirmAbove)})`,
      {
        code: 'CONFIRMATION_NEEDED',
        hint:
          agent === undefined
            ? `not running interactively: pass --yes or --max-cu ${most}, or raise confirmAbove (trdr config set confirmAbove N)`
            : `only a person can agree to this cost, not an agent (${agent}): let them decide on --max-cu ${most}, or set up a profile with a budget (trdr help money)`,
        approval: await this.approvalFor(
          least,
          most,
          commandWith(argv, { '--max-cu': String(most) }),
        ),
      },
    );
  }

  /** What a person who cannot be asked here has to agree to. */
  async approvalFor(least: number, most: number | null, command: string): Promise<Approval> {
    const left = await this.#run.left();
    return { cuAtLeast: least, cuAtMost: most, left: left?.units ?? null, command };
  }

  async #ask(sentence: string, note: string | undefined, then: string, needed = 0) {
    const { terminal, left, budgets } = this.#run;
    const { units = null, reveals = null } = (await left()) ?? {};
    const shown = [
      ...(units === null ? [] : [balanceText(units)]),
      ...(reveals === null || reveals >= needed
        ? []
        : [`${countText(reveals, 'wallet reveal')} left`]),
      ...((await budgets?.()) ?? []),
      ...(note === undefined ? [] : [note]),
    ].join('; ');
    const question = `${sentence}${shown === '' ? '' : ` (${shown})`}. ${then}?`;
    return await terminal.confirm(question);
  }
}

export const declined = () =>
  new Failure('confirm', 'cancelled; nothing was charged', { code: 'NOT_CONFIRMED' });
