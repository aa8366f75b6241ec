import { WhoisRecord } from '../../contract/records/subject.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import { whoisView } from '../../output/views/subject.ts';
import { cachedSubjectOptions, subjectArgument } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { command } from '../command.ts';
import { lookupJob, resumeCached, resumeRest } from '../lookup/lookup-job.ts';
import { openCachedLookup, userCalls } from '../lookup/open-lookup.ts';
import { runJob } from '../run/job.ts';

export const whois = command({
  path: 'whois',
  summary: 'Look up who is behind a handle, a wallet or a user id',
  about: [
    'The type of each subject is detected from its format: a UUID is a user id, a Solana or EVM address is a wallet, anything else is a handle. @name is always a handle, and a link to a profile on X is the handle in it. Malformed addresses are rejected with an explanation, free of charge.',
    'Answers are cached on this machine: repeating a lookup within --max-age is free. To renew an expired answer for a wallet, trdr looks up the user id in that answer for 100 CU (200 CU if it no longer exists) instead of the wallet for 30,000 CU.',
    'Several users can share a wallet: the service then always returns the same one of them. With the free plan (Explore), it shows the wallets of a small sample of accounts only; any other is the error FORBIDDEN, at no cost.',
    'A subject without a verified link gives a record with "found": false. That means "no verified link today", not "unknown to the platform".',
  ],
  args: [subjectArgument('subject', 'handle, wallet or user id')],
  options: cachedSubjectOptions('1h; 5m if not found'),
  common: ['output', 'service', 'money'],
  examples: {
    'trdr whois mira': 'look up a handle',
    'trdr whois 0x52908400098527886E0F7030069857D2E4169EE7':
      'look up a wallet (30,000 CU if found)',
    'trdr whois --file desk.csv --column handle --out desk.ndjson':
      'look up a column of a spreadsheet',
    "trdr whois - < handles.txt | jq -r 'select(.found) | [.subject, .solanaAddress] | @tsv'":
      'print handles and addresses in a pipe',
  },
  calls: ['user.handle', 'user.wallet', 'user.id'],
  record: () => WhoisRecord,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 10, 11],
  parse: (words, given) => ({ ...given, source: subjectSource(words, given, 'subject') }),
  async run(context, { source, as, maxAge, noCache, strict }) {
    const users = await openCachedLookup(context, { noCache, maxAge });
    if (!noCache) context.bill.isCached = context.settings.folders.cache !== undefined;
    const job = await lookupJob(context, {
      view: whoisView,
      source,
      read: (text) => readSubject(text, as),
      strict,
      doing: 'looking up',
      noun: 'subject',
      resume: noCache ? resumeRest : resumeCached,
      plan(subject) {
        const plan = users.plan(subject);
        return {
          calls: userCalls(subject, plan),
          find: (signal) => users.answer(subject, signal, plan),
        };
      },
    });
    return await runJob(job, context);
  },
});
