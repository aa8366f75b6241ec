import { duration } from '../../base/durations.ts';
import { countText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import { ResolveRecord } from '../../contract/records/subject.ts';
import { pendingReasons } from '../../contract/records/user.ts';
import {
  attemptsWithin,
  createResolver,
  type ResolveProgress,
  WAIT_MS,
} from '../../core/lookup/resolve.ts';
import { readHandle, type Subject } from '../../core/lookup/subject.ts';
import { SILENT_WAIT_MS } from '../../core/spend/rate-limiter.ts';
import { canRedraw } from '../../output/terminal/style.ts';
import { resolveView } from '../../output/views/subject.ts';
import { subjectArgument, subjectOptions } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { flag, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { openAnswers, openCachedLookup } from '../lookup/open-lookup.ts';
import { runLookups } from '../lookup/run-lookups.ts';
import type { Planned } from '../run/planned.ts';
import { resumeCached } from '../spend/preflight.ts';

export const resolveCommand = command({
  path: 'resolve',
  summary: 'Resolve a handle to its wallet, searching live if none is on record',
  about: [
    'Looks up the handle first, for 100 CU, or 200 CU if it is not found. Only if this finds no wallet, requests a live resolve, which costs 30,000 CU if it finds a wallet and 200 CU if not.',
    'If the answer is not ready, waits and retries as the service advises, for up to --wait; each attempt without an answer costs 200 CU. A handle that has no answer by then gets "code": "PENDING" with a reason; if no handle was resolved, the command exits 8. For the reason no_preview, retrying rarely helps. The service accepts ten resolves a minute, whatever the plan: trdr waits for its turn.',
  ],
  args: [subjectArgument('handle', 'handle, with or without @')],
  options: {
    direct: flag('--direct', 'request a live resolve without the 100 CU lookup'),
    wait: valueOr('--wait', 'maximum wait for a live answer', duration, WAIT_MS, '60s'),
    noWait: flag('--no-wait', 'do not wait for a live answer'),
    ...subjectOptions,
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr resolve slowpoke': 'wait for a live answer',
    'trdr resolve slowpoke --no-wait --json': 'request the wallet once, and print the state',
    'trdr resolve --file handles.txt --max-cu 2M': 'resolve a list, with a spending limit',
  },
  calls: ['user.handle', 'user.resolve'],
  record: () => ResolveRecord,
  exits: [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  parse: (words, given) => ({
    ...given,
    waitMs: given.noWait ? 0 : given.wait,
    source: subjectSource(words, given, 'handle'),
  }),
  async run(context, { source, direct, waitMs, strict }) {
    context.bill.isCached = context.settings.folders.cache !== undefined;
    const { io } = context.terminal;
    const users = await openCachedLookup(context);
    const times = attemptsWithin(waitMs) + 1;
    const planFor = ({ value: handle }: Subject): Planned[] => {
      const ask = { params: { handle } };
      // The most expensive case: the lookup finds no wallet, and only the last attempt finds one.
      const most = cu.miss * (times - 1) + cu.reveal;
      const live: Planned = { id: 'user.resolve', ask, times, most, isSure: direct };
      return direct ? [live] : [{ id: 'user.handle', ask }, live];
    };
    const unanswered = new Map<string, string[]>();
    const answer = async (describe: (text: string) => void) => {
      const onStanding = (standing: ResolveProgress) => {
        if (canRedraw(io.stderr, io.env)) describe(standingText(standing));
        else if (standing.againInMs > SILENT_WAIT_MS)
          context.terminal.notice(standingText(standing));
      };
      const claim = (await openAnswers(context))?.claim;
      const resolve = createResolver({
        client: context.service,
        clock: io.clock,
        users,
        claim,
        direct,
        waitMs,
        onStanding,
      });
      return async (handle: Subject, signal: AbortSignal) => {
        const found = await resolve(handle, signal);
        const reason = found.found === false ? found.pending?.reason : undefined;
        if (reason !== undefined)
          unanswered.set(reason, [...(unanswered.get(reason) ?? []), handle.text]);
        return found;
      };
    };
    try {
      return await runLookups(context, {
        view: resolveView,
        source,
        read: readHandle,
        strict,
        doing: 'resolving',
        noun: 'handle',
        plan: (handles) => handles.flatMap(planFor),
        resume: resumeCached,
        answer,
      });
    } finally {
      // Explain missing answers only on a terminal: programs find the reasons in the records.
      if (io.stderr.isTTY === true)
        for (const [reason, names] of unanswered)
          context.terminal.notice(unansweredText(reason, names));
    }
  },
});

/** Explains why handles have no answer: `mira: no wallet can be verified; a retry rarely helps`. */
function unansweredText(reason: string, names: readonly string[]): string {
  const who = names.length === 1 ? names[0] : countText(names.length, 'handle');
  return `${who}: ${reason === 'queued' ? 'queued; retry later' : meaningOf(reason)}`;
}

const meaningOf = (reason: string): string =>
  Object.entries(pendingReasons).find(([name]) => name === reason)?.[1] ?? reason;

/** Omits the advice of a reason, such as `retry later`, because trdr retries by itself. */
function standingText({ subject, reason, position, againInMs }: ResolveProgress): string {
  const place = position === undefined ? '' : `, position ${position} in the queue`;
  return `${subject}: ${reason === 'queued' ? 'queued' : meaningOf(reason).replace(/; .*/, '')}${place}; retrying in ${Math.ceil(againInMs / 1000)}s`;
}
