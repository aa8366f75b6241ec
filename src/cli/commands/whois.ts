import { usageError } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import { ComparedUserRecord } from '../../contract/records/subject.ts';
import type { CachedLookup, LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { Lookup } from '../../core/lookup/lookup.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import type { WalletWay } from '../../core/lookup/wallet-owner.ts';
import { sourceOf, subjectSource } from '../../input/subject-list.ts';
import { whoisView } from '../../output/views/subject.ts';
import { cachedSubjectOptions, subjectArgument } from '../args/common.ts';
import { checkCompare } from '../args/compare-flags.ts';
import { excluding, flag, value } from '../args/option.ts';
import { file } from '../args/values.ts';
import { command } from '../command.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeCached, resumeRest } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import { runJob } from '../run/job.ts';
import page from './whois.md';

export const whois = command({
  path: 'whois',
  page,
  args: [subjectArgument('subject', 'handle, wallet or user id')],
  options: {
    ...cachedSubjectOptions('1h; 5m if not found'),
    direct: flag('--direct', 'ask the service for a wallet at once (30,000 CU if found)'),
    cheap: excluding(flag('--cheap', 'never make the 30,000 CU call for a wallet'), '--direct'),
    compare: excluding(
      value('--compare', 'show what changed since this earlier output', file),
      '--direct',
    ),
    changed: flag('--changed', 'with --compare: hide what did not change'),
    history: excluding(flag('--history', 'add earlier handles and wallets (free)'), '--no-cache'),
  },
  common: ['output', 'service', 'money'],
  calls: ['user.handle', 'user.wallet', 'user.id', 'launchpad.user'],
  record: () => ComparedUserRecord,
  exits: [3, 10],
  parse: (words, flags) => {
    checkCompare({ ...flags, only: [] }, '--compare desk.ndjson');
    // With --compare, no subjects are required: without any, those of the file are read again.
    const isWhole = flags.compare !== undefined && words.length === 0 && flags.file === undefined;
    const source = isWhole ? undefined : subjectSource(words, flags, 'subject');
    if (flags.compare === '-' && (words.includes('-') || flags.file === '-')) {
      throw usageError(
        'only one of the subjects and --compare can be read from stdin',
        'save the other to a file',
      );
    }
    return { ...flags, source };
  },
  async run(context, { source, as, maxAge, noCache, strict, direct, cheap, history, ...flags }) {
    const { compare, changed } = flags;
    const comparison = compare === undefined ? undefined : await openComparison(compare, context);
    const way = wayOf(direct, cheap || comparison !== undefined);
    // A comparison with what was read a moment ago would miss what has changed since.
    const age = comparison ? (maxAge ?? 0) : maxAge;
    const users = await openCachedLookup(context, { noCache, maxAge: age, way });
    if (!noCache) context.bill.isCached = context.settings.folders.state !== undefined;
    const wallets = new SeenWallets();
    const job = await lookupJob(context, {
      view: comparison?.view ?? whoisView,
      source: source ?? sourceOf(comparison?.earlier.subjects ?? []),
      read: (text) => comparison?.earlier.subjectOf(text, as) ?? readSubject(text, as),
      rows(records) {
        const rows = history ? withHistory(records, users) : records;
        return comparison ? comparison.earlier.compareAll(rows, changed) : rows;
      },
      tally: new LookupTally(strict),
      doing: 'looking up',
      noun: 'subject',
      resume: noCache || age === 0 ? resumeRest : resumeCached,
      remark: () => (way === 'direct' ? undefined : wallets.text()),
      plan(subjects) {
        const plans = users.planAll(subjects);
        for (const plan of plans) wallets.add(plan);
        return plans;
      },
    });
    const exit = await runJob(job, context);
    if (comparison && !context.settings.flags.dryRun)
      context.terminal.tell(comparison.earlier.summary());
    return exit;
  },
});

/** What lookups are compared with. Loaded only then, because lookups have to start fast. */
async function openComparison(path: string, { terminal }: Context) {
  const { EarlierUsers } = await import('../../input/earlier/users.ts');
  const { comparedUsersView } = await import('../../output/views/compared-users.ts');
  return {
    earlier: await EarlierUsers.read(path, terminal.io, terminal.notice),
    view: comparedUsersView,
  };
}

function wayOf(direct: boolean, cheap: boolean): WalletWay {
  if (direct) return 'direct';
  return cheap ? 'cheap' : 'cheapest';
}

/** Adds what each user was called and owned before. */
async function* withHistory(records: AsyncIterable<Lookup['record']>, users: CachedLookup) {
  for await (const record of records)
    yield record.found ? Object.assign(record, { was: users.historyOf(record) }) : record;
}

/** What the book has of the wallets of a run. */
class SeenWallets {
  #kept = 0;
  #known = 0;
  #unknown = 0;

  add({ subject, answer, owners = 0 }: LookupPlan): void {
    if (subject.type !== 'wallet') return;
    if (answer) this.#kept++;
    else if (owners > 0) this.#known++;
    else this.#unknown++;
  }

  /** Undefined unless there are several wallets. */
  text(): string | undefined {
    const wallets = this.#kept + this.#known + this.#unknown;
    if (wallets < 2) return undefined;
    const parts = [
      `${group(this.#kept)} kept`,
      `${group(this.#known)} known`,
      `${group(this.#unknown)} unknown`,
    ];
    return `${group(wallets)} wallets: ${parts.join(', ')}`;
  }
}
