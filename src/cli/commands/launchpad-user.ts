import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports/client.ts';
import { known } from '../../contract/read-record.ts';
import { LaunchpadUserRecord } from '../../contract/records/subject.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import { answerOf, type LookupAnswer } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import { launchpadUserView } from '../../output/views/subject.ts';
import { subjectArgument, subjectOptions } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { command } from '../command.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { runLookups } from '../lookup/run-lookups.ts';
import type { Planned } from '../run/planned.ts';
import { planLookups, resumeRest } from '../spend/preflight.ts';

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
    return await runLookups(context, {
      view: launchpadUserView,
      source,
      read: (text) => readSubject(text),
      strict,
      doing: 'looking up',
      noun: 'subject',
      plan: (subjects) => [
        ...planLookups(
          users,
          subjects.filter(({ type }) => type !== 'wallet'),
        ),
        // Before its lookup, the wallet of a handle is not known, so the handle takes its place here.
        ...subjects.map(({ value, type }): Planned => {
          const ask = { params: { wallet: value } };
          return { id: 'launchpad.user', ask, isSure: type === 'wallet' };
        }),
      ],
      resume: resumeRest,
      answer: async () =>
        launchpadAnswers(await context.service.client(), users, context.terminal.io.clock),
    });
  },
});

/** The wallet of a handle or user id is looked up first. */
const launchpadAnswers =
  (client: Client, users: CachedLookup, clock: Clock) =>
  async (subject: Subject, signal: AbortSignal): Promise<LookupAnswer> => {
    let wallet: string | null | undefined = subject.value;
    if (subject.type !== 'wallet') {
      const answer = await users.answer(subject, signal);
      if (answer.found !== true) return answer;
      const { solanaAddress, evmAddress } = known(User, answer.record);
      wallet = solanaAddress ?? evmAddress;
      if (!wallet) return { found: false, code: 'NO_WALLET', time: answer.time, from: answer.from };
    }
    try {
      const { record } = await client.call('launchpad.user', { params: { wallet } }, { signal });
      return { found: true, record, time: clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, clock.now());
    }
  };
