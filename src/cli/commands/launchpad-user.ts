import { LaunchpadUserRecord } from '../../contract/records/subject.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { launchpadUserView } from '../../output/views/subject.ts';
import { subjectArgument, subjectOptions } from '../args/common.ts';
import { command } from '../command.ts';
import { accountByWallet } from '../lookup/launchpad-account.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeRest } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import { WalletLookup } from '../lookup/wallet-lookup.ts';
import { runJob } from '../run/job.ts';
import page from './launchpad-user.md';

export const launchpadUser = command({
  path: 'launchpad user',
  page,
  args: [subjectArgument('subject', 'wallet, handle or user id')],
  options: subjectOptions,
  common: ['output', 'service', 'money'],
  calls: ['launchpad.user', 'user.handle', 'user.id'],
  record: () => LaunchpadUserRecord,
  exits: [3, 10],
  parse: (words, flags) => ({ ...flags, source: subjectSource(words, flags, 'subject') }),
  async run(context, { source, strict }) {
    const users = await openCachedLookup(context);
    const byWallet = accountByWallet(context.service, context.terminal.io.clock);
    const accounts = new WalletLookup(users, byWallet);
    const job = await lookupJob(context, {
      view: launchpadUserView,
      source,
      read: (text) => readSubject(text),
      tally: new LookupTally(strict),
      doing: 'looking up',
      noun: 'subject',
      resume: resumeRest,
      plan: (subjects) => Promise.all(subjects.map((subject) => accounts.plan(subject))),
    });
    return await runJob(job, context);
  },
});
