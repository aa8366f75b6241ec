import { Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { KeyMeters } from '../../contract/ports.ts';
import { agentOf } from '../agent.ts';
import { canAsk, type PromptIo } from '../output/prompt.ts';
import { confirm } from './ask-yes-no.ts';
import { type Consent, declined, mayStart, needsConfirmation } from './confirm-above.ts';
import { balanceText, type Estimate, estimateText } from './estimate.ts';

/** The question before a run: `Looking up 3 subjects will cost 300–90,000 CU`. */
export interface Question {
  /** Returns the question, which contains the cost. */
  readonly costs: (cost: string) => string;
  /** A cheaper way to get the same result. */
  readonly cheaper?: string | undefined;
}

/** A run whose total cost is not known in advance. It starts at once, and asks when it reaches its limit. */
export interface OpenRun {
  /** The cost of continuing: `polling every 10s costs 1,200 CU/min`. */
  readonly rate?: (() => string | undefined) | undefined;
  /** Why the run ends at its limit, and how to continue it. */
  readonly stopped: (spent: string) => { readonly message: string; readonly hint?: string };
}

/** Decides what a run may spend. */
export interface Permission {
  /** What the run may spend at present, in CU; undefined if there is no limit. */
  readonly limit: number | undefined;
  /**
   * For a run of known cost without a limit: the cost that the user has agreed to, but at least `confirmAbove`.
   * Calls whose answers were lost are repeated only within this cost. Undefined for all other runs and in the sandbox.
   */
  readonly agreed: number | undefined;
  /**
   * Starts a run whose cost is known. Asks for confirmation if necessary; throws if the user declines or
   * cannot be asked.
   */
  approve(estimate: Estimate, question: Question): Promise<void>;
  /**
   * Starts a run whose total cost is not known. Its limit is `confirmAbove`, unless --max-cu sets another limit,
   * --yes allows any cost, or the run uses the sandbox.
   */
  begin(run: OpenRun): void;
  /** Whether the user can be asked to raise the limit. */
  readonly canRaise: boolean;
  /**
   * Asks the user to raise the limit, so that at least `most` CU can be spent in addition to `spent`. Returns
   * false if the run must end.
   */
  raise(most: number, spent?: number): Promise<boolean>;
  /** The failure to report when a run of unknown total cost reaches its limit; undefined for other runs. */
  stopped(): Failure | undefined;
}

interface PermissionParts extends Consent {
  readonly io: PromptIo;
  /** Whether the service is the embedded one, which costs nothing. */
  readonly sandbox: boolean;
  readonly signal: AbortSignal;
  /** The maximum cost of all calls so far. */
  readonly spent: () => number;
  /** What the key has left; undefined if not known. */
  readonly left: () => Promise<KeyMeters | undefined>;
  /** What the budgets have left, as short texts; empty if there are no budgets. */
  readonly budgets?: (() => Promise<readonly string[]>) | undefined;
  /** Hides the progress and the status line while `work` asks a question. */
  readonly asking: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The hint that tells the user how to raise the limit. */
export const moreText = (maxCu: number | undefined): string =>
  `to spend more in one run, ${maxCu === undefined ? 'pass --max-cu N or --yes' : 'raise --max-cu'}`;

export function createPermission(parts: PermissionParts): Permission {
  const { io, sandbox, signal, confirmAbove, maxCu, yes } = parts;
  let limit = maxCu;
  let agreed: number | undefined;
  let open: OpenRun | undefined;
  let isDeclined = false;
  let asked: Promise<boolean> | undefined;

  const canRaise = () => open !== undefined && maxCu === undefined && !isDeclined && canAsk(io);

  const ask = async (sentence: string, note: string | undefined, then: string, needed = 0) => {
    const { units = null, reveals = null } = (await parts.left()) ?? {};
    const shown = [
      ...(units === null ? [] : [balanceText(units)]),
      ...(reveals === null || reveals >= needed ? [] : [`${countText(reveals, 'wallet reveal')} left`]),
      ...((await parts.budgets?.()) ?? []),
      ...(note === undefined ? [] : [note]),
    ].join('; ');
    const question = `${sentence}${shown === '' ? '' : ` (${shown})`}. ${then}?`;
    return await parts.asking(() => confirm(io, question, signal));
  };

  /**
   * The limit after the user has agreed to continue: at least twice the present one, so that a long run
   * seldom asks.
   */
  const nextLimit = (now: number, spent: number, most: number) => Math.max(2 * now, spent + most);

  const askForMore = async (run: OpenRun, now: number, spent: number, most: number): Promise<boolean> => {
    const next = nextLimit(now, spent, most);
    const sentence = `This run has spent ${unitsText(spent)} of its limit of ${unitsText(now)}`;
    const answer = await ask(sentence, run.rate?.(), `Continue up to ${unitsText(next)}`);
    isDeclined = answer !== true;
    if (!isDeclined) limit = next;
    return !isDeclined;
  };

  return {
    get limit() {
      return limit;
    },
    get agreed() {
      return agreed;
    },
    async approve(estimate, { costs, cheaper }) {
      if (sandbox || maxCu !== undefined) return;
      if (!mayStart(estimate, { confirmAbove, maxCu, yes })) {
        if (!canAsk(io)) throw needsConfirmation(estimate, confirmAbove, agentOf(io.env));
        if (!(await ask(costs(estimateText(estimate)), cheaper, 'Continue', estimate.reveals)))
          throw declined();
      } else if (!yes) {
        // Limit a run that started without a confirmation to the confirmation threshold, because repeating
        // calls with lost answers can cost more than the estimate.
        limit = confirmAbove;
        return;
      }
      agreed = Math.max(agreed ?? 0, estimate.most, confirmAbove);
    },
    begin(run) {
      open = run;
      if (!sandbox && !yes && maxCu === undefined) limit = confirmAbove;
    },
    get canRaise() {
      return canRaise();
    },
    async raise(most, spent = parts.spent()) {
      const run = open;
      if (!run || limit === undefined || !canRaise()) return false;
      asked ??= askForMore(run, limit, spent, most).finally(() => {
        asked = undefined;
      });
      return await asked;
    },
    stopped() {
      if (!open || limit === undefined) return undefined;
      const { message, hint } = open.stopped(unitsText(parts.spent()));
      return new Failure('limit', message, {
        code: 'CEILING',
        hint: hint === undefined ? moreText(maxCu) : `${moreText(maxCu)}; ${hint}`,
      });
    },
  };
}
