import * as z from 'zod/mini';
import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { PositionRecord, TokenAuthorRecord, TokenRecord } from '../../contract/records/position.ts';
import { cacheOptions } from '../args/common.ts';
import { checkSort, fromOption, listOptions } from '../args/list-flags.ts';
import { excluding, flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import { RecordedTheses } from '../lists/recorded-theses.ts';
import { recordedToken, servedToken, tokenJob } from '../lists/token-job.ts';
import { tokenAddresses } from '../lookup/token.ts';
import { runJob } from '../run/job.ts';
import page from './token.md';

/** So many theses are read by default. */
const DEFAULT_POSTS = 100;

const { since, until, sort, reverse, all } = listOptions;

export const tokenCommand = command({
  path: 'token',
  page,
  args: [{ name: 'token', help: 'address, or symbol of a token that was listed before' }],
  options: {
    limit: value(
      '--limit',
      'read at most N theses',
      integer({ min: 1 }),
      `${DEFAULT_POSTS}; unlimited with --since or --from`,
    ),
    all: excluding(all, '--limit'),
    since,
    until,
    positions: flag('--positions', 'print the positions in place of the token'),
    sort,
    reverse,
    top: value('--top', 'show only the first N authors or positions', integer({ min: 1 })),
    from: excluding(fromOption, '--max-age', '--no-cache'),
    ...cacheOptions('10m'),
  },
  common: ['output', 'service', 'money'],
  calls: ['thesis.token', 'launchpad.callouts.coin'],
  record: () => z.union([TokenRecord, PositionRecord]),
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11],
  parse([token], given) {
    if (token === undefined) throw usageError('no token given', 'pass its address or symbol');
    checkSort(given.sort, fieldPaths(given.positions ? PositionRecord : TokenAuthorRecord));
    const isRange = given.all || given.since !== undefined || given.from.length > 0;
    return { ...given, token, rows: given.limit ?? (isRange ? undefined : DEFAULT_POSTS) };
  },
  async run(context, { token: text, from, ...flags }) {
    const recorded = from.length > 0 ? await RecordedTheses.read(context, from) : undefined;
    const [token = text] = await tokenAddresses([text], context, recorded?.posts, 'TOKEN');
    const asked = { ...flags, token, users: [], tokens: [token] };
    const source = recorded
      ? recordedToken(() => recorded.gather(recorded.posts.all, asked))
      : await servedToken(context, asked);
    return await runJob(tokenJob(context, source, asked), context);
  },
});
