import { Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { PriceBounds } from '../../contract/endpoint.ts';
import { bareHandle } from '../../contract/handles.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { KeyMeters } from '../../contract/ports/client.ts';
import { untilRenewal } from '../../core/account.ts';
import { endpointRow } from '../../core/client/coding.ts';
import { type CachedLookup, lookupCall } from '../../core/lookup/cached-lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Allowance } from '../../core/pnl/allowance.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import { lookAtAccount } from '../lookup/account.ts';
import { accountSharing } from '../lookup/open-lookup.ts';
import type { Context } from '../run/context.ts';
import type { Planned } from '../run/planned.ts';
import type { Estimate } from './permission.ts';

export const SOCKET_MINUTE: PriceBounds = {
  least: cu.socketMinute,
  most: cu.socketMinute,
  reveals: 0,
};

export const plus = (one: number | null, other: number | null) =>
  one === null || other === null ? null : one + other;

/** The parameters are not checked. */
export function totalOf(planned: Iterable<Planned>): Required<Estimate> {
  let total: Required<Estimate> = { least: 0, most: 0, reveals: 0 };
  for (const one of planned) {
    // The answer is cached. Its price would load the schemas, which a cached lookup does not need.
    if (one.times === 0) continue;
    const request = { params: {}, query: {}, body: undefined, ...one.ask };
    const bounds = one.id === 'ws' ? SOCKET_MINUTE : endpointRow(one.id).price.before(request);
    const { least, most, reveals } = costOf(one, bounds);
    total = {
      least: total.least + least,
      most: plus(total.most, most),
      reveals: plus(total.reveals, reveals),
    };
  }
  return total;
}

export function costOf(
  { times = 1, perMinute, isSure = true, ...cost }: Planned,
  bounds: PriceBounds,
): Required<Estimate> {
  const count = perMinute ?? times;
  return {
    least: cost.least ?? (isSure ? bounds.least * (perMinute ?? 1) : 0),
    most: cost.most ?? (count === null ? null : bounds.most * count),
    reveals: count === null ? null : bounds.reveals * count,
  };
}

export function distinct(subjects: readonly Subject[]): Subject[] {
  return [
    ...new Map(subjects.map((subject) => [`${subject.type}:${subject.normal}`, subject])).values(),
  ];
}

/** The call of a subject with a recent cached answer is not sent, but a dry run shows it, so that it has a row for each subject. */
export const planLookups = (users: CachedLookup, subjects: readonly Subject[]): Planned[] =>
  distinct(subjects).flatMap((subject): readonly Planned[] => {
    const calls = users.plan(subject);
    return calls.length > 0 ? calls : [notSent(lookupCall(subject))];
  });

export const notSent = (call: Planned): Planned => ({
  ...call,
  times: 0,
  least: 0,
  most: 0,
});

/** The estimate of a run that reads more subjects than have been checked. */
const unknown: Estimate = { least: 0, most: null };

/** Throws before the first paid call if too few units are left for the run, and warns if they may not suffice. */
export async function preflight(
  context: Context,
  planned: Iterable<Planned>,
  what: string,
  hasMore: boolean,
  resume: string,
): Promise<void> {
  const { confirmAbove, maxCu } = context.settings;
  const stopped = (spent: string) => ({
    message: `stopped after ${spent}; there are more subjects`,
    hint: resume,
  });
  const costs = (cost: string) => `${capital(what)} will cost ${cost}`;
  const open = { stopped, notice: context.terminal.notice };
  const estimate = await context.service.permission.start(
    hasMore ? unknown : totalOf(planned),
    costs,
    open,
  );
  if (!estimate || estimate.most <= confirmAbove || context.settings.flags.sandbox) return;
  const sharing = await accountSharing(context);
  const left = await lookAtAccount(await context.service.client(), context.terminal.signal, {
    sharing,
  });
  if (!left) return;
  const needed = Math.min(estimate.least, maxCu ?? estimate.least);
  if (left.units !== null && left.units < needed) {
    throw new Failure(
      'quota',
      `${what} costs at least ${unitsText(needed)} but only ${unitsText(left.units)} are left`,
      {
        code: 'QUOTA_EXCEEDED',
        hint: `request fewer subjects, top up, ${untilRenewal(left)}; "trdr me" shows what is left`,
      },
    );
  }
  warnOfShortage(context, what, estimate, left);
}

function warnOfShortage(
  { terminal, settings: { maxCu } }: Context,
  what: string,
  { most, reveals }: { readonly most: number; readonly reveals: number | null },
  left: KeyMeters,
): void {
  if (left.units !== null && left.units < Math.min(most, maxCu ?? most))
    terminal.notice(
      `${unitsText(left.units)} left; ${what} may cost more, and stops when the units are used up`,
    );
  if (left.reveals !== null && left.reveals < (reveals ?? 0))
    terminal.notice(
      `${countText(left.reveals, 'wallet reveal')} left; ${what} may need more, and stops when the reveals are used up`,
    );
}

/** With --limit, the spending limit of an open list is not reported, because the list stops by itself. */
export async function approveList(
  { service, terminal }: Context,
  planned: Iterable<Planned>,
  rows: number | undefined,
  ...nouns: readonly [one: string, many?: string]
): Promise<void> {
  const costs = (cost: string) =>
    `Fetching up to ${countText(rows ?? 0, ...nouns)} will cost ${cost}`;
  await service.permission.start(rows === undefined ? unknown : totalOf(planned), costs, {
    stopped: (spent) => ({ message: `stopped after ${spent}; there are more results` }),
    notice: rows === undefined ? terminal.notice : undefined,
  });
}

export const resumeCached = 'run the same command again: the answers so far are cached';
export const resumeRest = 'run the command again with the subjects that have no record yet';

const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;

export const handlesText = (count: number): string => countText(count, 'handle');

export function* planNumbers(
  { texts, handleAt }: Targets,
  positions: readonly number[],
): Generator<Planned, void, void> {
  for (let from = 0; from < positions.length; from += BATCH_MAX) {
    const batch = positions.slice(from, from + BATCH_MAX);
    // A wallet replaces its unknown handle, which does not affect the price. Without a user, it costs nothing.
    const handles = batch.map((at) => bareHandle(handleAt(at) ?? texts[at] ?? ''));
    const least = cu.miss * batch.filter((at) => handleAt(at) !== undefined).length;
    const [handle = ''] = handles;
    yield texts.length === 1
      ? { id: 'user.pnl', ask: { params: { handle } }, least }
      : { id: 'users.pnl', ask: { body: { handles } }, least };
  }
}

/** Asks for confirmation if necessary. The run requests only as many handles as the units and reveals that are left cover. */
export async function approveNumbers(
  context: Context,
  planned: Iterable<Planned>,
  count: number,
  allowance?: Allowance,
): Promise<void> {
  if (count === 0) return;
  const { least, most } = totalOf(planned);
  const estimate = { least, most: most ?? 0, reveals: allowance ? count : 0 };
  await context.service.permission.approve(
    estimate,
    (cost) => `This will cost ${cost} for ${handlesText(count)}`,
  );
  if (!allowance) return;
  warnOfShortage(context, 'the run', estimate, await allowance.refresh(context.terminal.signal));
}
