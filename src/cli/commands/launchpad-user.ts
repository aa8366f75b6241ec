import { LaunchpadUserRecord } from '../../contract/records/subject.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import { launchpadUserView } from '../../output/views/subject.ts';
import { subjectArgument, subjectOptions } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { command } from '../command.ts';
import { AccountLookup } from '../lookup/launchpad-account.ts';
import { lookupJob, resumeRest } from '../lookup/lookup-job.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { runJob } from '../run/job.ts';

export const launchpadUser = command({
  path: 'launchpad user',
  summary: 'Look up the launchpad account of a wallet or a handle',
  about: [
    'Reads only what is on record at the launchpad. It does not show who owns the wallet; use "trdr whois" for that. For a wallet that traded without creating an account, isLaunchpadUser is false.',
    'The wallet of a handle or user id is looked up first, for 100 CU (200 CU if it is not found), unless it is cached: the Solana wallet, or the EVM wallet if there is no other. Without a verified wallet, the record has the code NO_WALLET.',
    'Malformed addresses are rejected with an explanation, free of charge. A subject that is given several times is requested once.',
  ],
  args: [subjectArgument('subject', 'wallet, handle or user id')],
  options: subjectOptions,
  common: ['output', 'service', 'money'],
  examples: {
    'trdr launchpad user 8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6': 'look up one wallet',
    'trdr launchpad user mira': 'look up the wallet of a handle first',
    "trdr launchpad board -o ndjson | jq -r .wallet | trdr launchpad user - | jq -r 'select(.xUsername) | .xUsername'":
      'list the X accounts of the traders on the leaderboard',
  },
  calls: ['launchpad.user', 'user.handle', 'user.id'],
  record: () => LaunchpadUserRecord,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 10, 11],
  parse: (words, given) => ({ ...given, source: subjectSource(words, given, 'subject') }),
  async run(context, { source, strict }) {
    const users = await openCachedLookup(context);
    const accounts = new AccountLookup(context.service, users, context.terminal.io.clock);
    const job = await lookupJob(context, {
      view: launchpadUserView,
      source,
      read: (text) => readSubject(text),
      strict,
      doing: 'looking up',
      noun: 'subject',
      resume: resumeRest,
      plan: (subject) => accounts.plan(subject),
    });
    return await runJob(job, context);
  },
});
