import { Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { Context } from '../context.ts';
import { accountSharing } from '../lookup/account.ts';
import { lookAtAccount } from './balance.ts';
import type { Estimate } from './estimate.ts';
import { beginOpen } from './open-run.ts';

/** The cost of a run in CU and reveals; `most` and `reveals` are null if the length of the input is not known. */
export interface FullEstimate extends Omit<Estimate, 'most' | 'reveals'> {
  readonly most: number | null;
  readonly reveals: number | null;
}

/** Describes a run of many subjects, for messages. */
export interface SubjectsRun {
  /** What the run does, such as `looking up 3 subjects`. */
  readonly what: string;
  /** Describes how to continue a run that stopped at its limit. */
  readonly resume: () => string;
}

/**
 * Checks an expensive run before its first paid call: compares the cost with the spending limits and with
 * what the key has left (from `me`, which is free). Throws if the run cannot succeed, and warns if it may
 * fail. A run whose cost is not known in advance starts at once.
 */
export async function preflight(
  context: Context,
  { least, most, reveals: wallets }: FullEstimate,
  { what, resume }: SubjectsRun,
): Promise<void> {
  const { confirmAbove, maxCu } = context.settings;
  if (most === null) {
    beginOpen(context, {
      stopped: (spent) => ({ message: `stopped after ${spent}; there are more subjects`, hint: resume() }),
    });
    return;
  }
  await context.permission.approve(
    { least, most, reveals: wallets ?? 0 },
    { costs: (cost) => `${capital(what)} will cost ${cost}` },
  );
  if (most <= confirmAbove || context.globals.sandbox) return;
  const client = await context.client();
  const left = await lookAtAccount(client, context.signal, { sharing: accountSharing(context) });
  if (!left) return;
  const { units, reveals } = left;
  const needed = Math.min(least, maxCu ?? least);
  if (units !== null && units < needed) {
    throw new Failure(
      'quota',
      `${what} costs at least ${unitsText(needed)} but only ${unitsText(units)} are left`,
      {
        code: 'QUOTA_EXCEEDED',
        hint: 'request fewer subjects, top up, or wait for the next UTC month; "trdr me" shows what is left',
      },
    );
  }
  if (units !== null && units < Math.min(most, maxCu ?? most)) {
    context.notice(`${unitsText(units)} left; ${what} may cost more, and stops when the units are used up`);
  }
  if (reveals !== null && wallets !== null && reveals < wallets) {
    context.notice(
      `${countText(reveals, 'wallet reveal')} left; ${what} may need more, and stops when the reveals are used up`,
    );
  }
}

/** Hints for continuing a run, with and without cached answers. */
export const resumeCached = 'run the same command again: the answers so far are cached';
export const resumeRest = 'run the command again with the subjects that have no record yet';

const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
