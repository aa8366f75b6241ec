import { addTo } from '../../base/add-to.ts';
import { duration } from '../../base/durations.ts';
import { countText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import { ResolveRecord } from '../../contract/records/subject.ts';
import { pendingMeaning } from '../../contract/records/user.ts';
import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import {
  attemptsWithin,
  type ResolveProgress,
  Resolver,
  revealsWallet,
  WAIT_MS,
} from '../../core/lookup/resolve.ts';
import { readHandle, type Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { SILENT_WAIT_MS } from '../../core/spend/rate-limiter.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { canRedraw } from '../../output/terminal/style.ts';
import { resolveView } from '../../output/views/subject.ts';
import { subjectArgument, subjectOptions } from '../args/common.ts';
import { flag, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeCached } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import { openAnswers } from '../run/answers.ts';
import { runJob } from '../run/job.ts';
import type { Terminal } from '../run/terminal.ts';
import page from './resolve.md';

export const resolveCommand = command({
  path: 'resolve',
  page,
  args: [subjectArgument('handle', 'handle, with or without @')],
  options: {
    direct: flag('--direct', 'request a live resolve without the 100 CU lookup'),
    wait: valueOr('--wait', 'maximum wait for a live answer', duration, WAIT_MS, '60s'),
    noWait: flag('--no-wait', 'do not wait for a live answer'),
    ...subjectOptions,
  },
  common: ['output', 'service', 'money'],
  calls: ['user.handle', 'user.resolve'],
  record: () => ResolveRecord,
  exits: [3, 8, 10],
  parse: (words, flags) => ({
    ...flags,
    waitMs: flags.noWait ? 0 : flags.wait,
    source: subjectSource(words, flags, 'handle'),
  }),
  async run(context, { source, direct, waitMs, strict }) {
    context.bill.isCached = context.settings.folders.cache !== undefined;
    const users = await openCachedLookup(context);
    const unanswered = new Unanswered(context.terminal);
    const resolver = new Resolver({
      client: context.service,
      clock: context.terminal.io.clock,
      users,
      claim: (await openAnswers(context))?.claim,
      direct,
      waitMs,
      onWait: (progress) => unanswered.show(progress),
    });
    const job = await lookupJob(context, {
      view: resolveView,
      source,
      read: readHandle,
      tally: new LookupTally(strict),
      doing: 'resolving',
      noun: 'handle',
      resume: resumeCached,
      plan: (handles) =>
        handles.map((handle) => {
          const plan = users.plan(handle);
          return {
            calls: callsOf(handle, plan, direct, waitMs),
            async find(signal, describe) {
              unanswered.describe = describe;
              const answer = await resolver.resolve(handle, signal, plan);
              unanswered.note(handle, answer);
              return answer;
            },
          };
        }),
    });
    try {
      return await runJob(job, context);
    } finally {
      unanswered.explain();
    }
  },
});

/**
 * The calls for a handle: the lookup, unless the cache has it, and a live search, unless the cache
 * has a wallet.
 */
function callsOf(handle: Subject, plan: LookupPlan, direct: boolean, waitMs: number): Planned[] {
  const ask = { params: { handle: handle.value } };
  const times = attemptsWithin(waitMs) + 1;
  // The most expensive case: the lookup finds no wallet, and only the last attempt finds one.
  const most = cu.miss * (times - 1) + cu.reveal;
  const live: Planned = { id: 'user.resolve', ask, times, most };
  if (direct) return [live];
  const { answer } = plan;
  if (answer === undefined) return [...plan.calls, { ...live, isSure: false }];
  if (answer.found === false) return [...plan.calls, live];
  if (answer.found && revealsWallet(answer.record)) return [...plan.calls];
  // A wallet may have been verified since the record was cached, so the handle is looked up again.
  return [
    { id: 'user.handle', ask },
    { ...live, isSure: false },
  ];
}

/** What the run says about handles that have no answer yet. */
class Unanswered {
  /** Shows what the run waits for, on a terminal that can redraw it. */
  describe: (text: string) => void = () => {};
  readonly #terminal: Terminal;
  readonly #unanswered = new Map<string, string[]>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(progress: ResolveProgress): void {
    const { io } = this.#terminal;
    if (canRedraw(io.stderr, io.env)) this.describe(waitText(progress));
    else if (progress.againInMs > SILENT_WAIT_MS) this.#terminal.notice(waitText(progress));
  }

  note(handle: Subject, answer: LookupAnswer): void {
    const reason = answer.found === false ? answer.pending?.reason : undefined;
    if (reason !== undefined) addTo(this.#unanswered, reason, handle.text);
  }

  /** Explains missing answers, only on a terminal: programs find the reasons in the records. */
  explain(): void {
    for (const [reason, names] of this.#unanswered)
      this.#terminal.tell(unansweredText(reason, names));
  }
}

/** Explains why handles have no answer: `mira: no wallet can be verified; a retry rarely helps`. */
function unansweredText(reason: string, names: readonly string[]): string {
  const who = names.length === 1 ? names[0] : countText(names.length, 'handle');
  return `${who}: ${reason === 'queued' ? 'queued; retry later' : meaningOf(reason)}`;
}

const meaningOf = (reason: string): string => pendingMeaning(reason) ?? reason;

/** Omits the advice of a reason, such as `retry later`, because trdr retries by itself. */
function waitText({ subject, reason, position, againInMs }: ResolveProgress): string {
  const place = position === undefined ? '' : `, position ${position} in the queue`;
  return `${subject}: ${reason === 'queued' ? 'queued' : meaningOf(reason).replace(/; .*/, '')}${place}; retrying in ${Math.ceil(againInMs / 1000)}s`;
}
