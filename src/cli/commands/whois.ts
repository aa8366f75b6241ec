import { WhoisRecord } from '../../contract/records/subject.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import { whoisView } from '../../output/views/subject.ts';
import { cachedSubjectOptions, subjectArgument } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { command } from '../command.ts';
import { lookupJob, resumeCached, resumeRest } from '../lookup/lookup-job.ts';
import { openCachedLookup, userCalls } from '../lookup/open-lookup.ts';
import { runJob } from '../run/job.ts';
import page from './whois.md';

export const whois = command({
  path: 'whois',
  page,
  args: [subjectArgument('subject', 'handle, wallet or user id')],
  options: cachedSubjectOptions('1h; 5m if not found'),
  common: ['output', 'service', 'money'],
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
