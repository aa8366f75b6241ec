import { usageError } from '../../base/failure.ts';
import { cu } from '../../contract/endpoints.ts';
import { THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';
import { Thesis } from '../../contract/records/thesis.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { walk } from '../../core/pages/walk.ts';
import { thesisView } from '../../output/views/thesis.ts';
import { addressOf } from '../args/address.ts';
import { flag, value } from '../args/option.ts';
import { instantAt, integer, text, time } from '../args/values.ts';
import { command } from '../command.ts';
import type { Planned } from '../context.ts';
import { authorOf, plannedAuthor, userIdOf } from '../lookup/thesis-scope.ts';
import { stopAtThreshold } from '../spend/unbounded.ts';

const DEFAULT_ROWS = 20;

export const thesisList = command({
  path: 'thesis list',
  summary: 'List theses, newest first',
  about: [
    'Lists all theses, or those about a token, by an author, or both. A handle given to --user is looked up first, for 100 CU unless it is cached.',
    'Pages cost 200 CU per started block of 20 rows, even if they are empty. Fetches without a known end (--all, --since) stop at confirmAbove unless --yes or --max-cu is given.',
  ],
  args: [],
  options: {
    token: value('--token', 'only theses about this token', text('address')),
    user: value('--user', 'only theses by this author (handle or user id)', text('user', 'handle')),
    limit: value(
      '--limit',
      'maximum number of results',
      integer({ min: 1 }),
      `${DEFAULT_ROWS}; unlimited with --since`,
    ),
    all: flag('--all', 'no limit on the number of results'),
    since: value('--since', 'only theses posted since this time', time),
    until: value('--until', 'only theses posted before this time', time),
    before: value('--before', 'only theses older than the one with this id', text('id')),
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr thesis list', does: 'the latest 20' },
    { run: 'trdr thesis list --user mira --since 7d', does: 'one author, the last 7 days' },
    {
      run: 'trdr thesis list --all --max-cu 500k --out theses.ndjson',
      does: 'export the archive, for up to 500,000 CU',
    },
    {
      run: "trdr thesis list --limit 200 | jq -r '.tokenSymbol' | sort | uniq -c | sort -rn",
      does: 'most discussed tokens',
    },
  ],
  calls: ['thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken', 'user.handle'],
  record: () => Thesis,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11],
  parse(_, { token, user, limit, all, since, until, before }) {
    if (all && limit !== undefined)
      throw usageError('--all and --limit cannot be combined', 'use one of them');
    const rows = limit ?? (all || since !== undefined ? undefined : DEFAULT_ROWS);
    return { token, user, since, until, before, rows };
  },
  async run(context, { token, user, since, until, before, rows }) {
    const now = context.io.clock.now();
    const { utc } = context.settings;
    const range = {
      since: since && instantAt(since, now, utc),
      until: until && instantAt(until, now, utc),
    };
    if (range.since !== undefined && range.until !== undefined && range.since >= range.until) {
      throw usageError('--since must be before --until', 'swap them');
    }
    const tokenAddress = token === undefined ? undefined : await addressOf('--token', token);
    const author = user === undefined ? undefined : await authorOf(user);
    const open = rows === undefined || range.until !== undefined;
    const { lookup, userId: plannedId } = plannedAuthor(author);
    const page: Planned = {
      ...thesisCall(
        { userId: plannedId, tokenAddress },
        { limit: Math.min(rows ?? THESIS_BLOCK, THESIS_BLOCK) },
      ),
      times: open ? null : Math.ceil(rows / THESIS_BLOCK),
    };
    if (await context.dryRun([...lookup, page])) return 0;
    // With --until the rows that are passed over are paid for too: nobody knows how many.
    if (!open) {
      const most =
        cu.thesisBlock * (Math.ceil(rows / THESIS_BLOCK) + 1) + (author?.form === 'handle' ? cu.miss : 0);
      await context.approve({ least: cu.thesisBlock, most }, `walking ${rows} theses`);
    }
    // Begun once the output is open: an output that can't be must not cost a lookup.
    async function* found() {
      const userId = author && (await userIdOf(author, context));
      const feed = thesisFeed(await context.client(), { userId, tokenAddress });
      const dearest = (cu.thesisBlock * THESIS_LIMIT_MAX) / THESIS_BLOCK;
      yield* walk(open ? stopAtThreshold(feed, context, dearest) : feed, {
        ...range,
        limit: rows,
        before,
        signal: context.signal,
      });
    }
    await context.print(thesisView, found());
    return 0;
  },
});
