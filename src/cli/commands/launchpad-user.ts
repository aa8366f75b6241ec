import { countText } from '../../base/units.ts';
import { cu } from '../../contract/prices.ts';
import { LaunchpadUserRecord } from '../../contract/records/subject.ts';
import { launchpadAnswers } from '../../core/lookup/launchpad.ts';
import { lookup } from '../../core/lookup/lookup.ts';
import { readSubject } from '../../core/lookup/subject.ts';
import { launchpadUserView } from '../../output/views/subject.ts';
import { openOverflow } from '../../state/overflow.ts';
import { subjectOptions } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { gatherSubjects, isSingle } from '../args/subjects.ts';
import { command } from '../command.ts';
import { runLookups } from '../lookup/run-lookups.ts';
import { distinct } from '../spend/lookup-cost.ts';
import { preflight, resumeRest } from '../spend/preflight.ts';

export const launchpadUser = command({
  path: 'launchpad user',
  summary: 'Look up the launchpad account of a wallet',
  about: [
    'Reads only what is on record at the launchpad. It does not show who owns the wallet; use "trdr whois" for that. For a wallet that traded without creating an account, isLaunchpadUser is false.',
    'Malformed addresses are rejected with an explanation, free of charge. A wallet that is given several times is requested once.',
  ],
  args: [
    {
      name: 'wallet',
      help: 'Solana or EVM wallet; - reads them from stdin',
      variadic: true,
      optional: true,
    },
  ],
  options: subjectOptions,
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr launchpad user 8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6', does: 'look up one wallet' },
    {
      run: "trdr launchpad board -o ndjson | jq -r .wallet | trdr launchpad user - | jq -r 'select(.xUsername) | .xUsername'",
      does: 'list the X accounts of the traders on the leaderboard',
    },
  ],
  calls: ['launchpad.user'],
  record: () => LaunchpadUserRecord,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 10, 11],
  parse: (words, given) => ({ ...given, source: subjectSource(words, given, 'wallet') }),
  async run(context, { source, strict }) {
    const subjects = await gatherSubjects(source, context, (text) => readSubject(text, 'wallet'));
    const wallets = distinct(subjects.checked);
    const planned = wallets.map(
      ({ value }) => ({ id: 'launchpad.user', ask: { params: { wallet: value } } }) as const,
    );
    if (await context.dryRun(planned)) return 0;
    const most = subjects.hasMore ? null : cu.launchpad * wallets.length;
    await preflight(
      context,
      { least: most ?? 0, most, reveals: 0 },
      { what: `looking up ${countText(wallets.length, 'wallet')}`, resume: () => resumeRest },
    );
    const answer = launchpadAnswers(await context.client(), context.io.clock);
    return await runLookups(context, {
      view: launchpadUserView,
      subjects,
      single: isSingle(source, subjects),
      strict,
      found: lookup(subjects.all(), {
        answer,
        as: 'wallet',
        overflow: openOverflow(),
        signal: context.signal,
      }),
    });
  },
});
