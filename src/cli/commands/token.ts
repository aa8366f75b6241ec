import * as z from 'zod/mini';
import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { PositionRecord, TokenAuthorRecord, TokenRecord } from '../../contract/records/position.ts';
import type { PageRow } from '../../core/pages/post.ts';
import { cacheOptions } from '../args/common.ts';
import {
  checkSort,
  fromArgument,
  fromOption,
  listOptions,
  type RangeFlags,
} from '../args/list-flags.ts';
import { excluding, flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import { type CacheFlags, calloutFeed, FeedReader } from '../lists/feed-reader.ts';
import { RecordedTheses } from '../lists/recorded-theses.ts';
import { type AskedTheses, ServedTheses } from '../lists/served-theses.ts';
import { type TokenPosts, tokenJob } from '../lists/token-job.ts';
import { noticeVouched } from '../lists/vouched-text.ts';
import { tokenAddresses } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { runJob } from '../run/job.ts';
import page from './token.md';

/** So many theses are read by default. */
const DEFAULT_POSTS = 100;

const { since, until, sort, reverse, all } = listOptions;

export const tokenCommand = command({
  path: 'token',
  page,
  args: [
    { name: 'token', help: 'address, or symbol of a token that was listed before' },
    fromArgument,
  ],
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
  exits: [3],
  parse([token, ...files], given) {
    if (token === undefined) throw usageError('no token given', 'pass its address or symbol');
    if (files.length > 0 && given.from.length === 0)
      throw usageError(
        `unexpected argument "${files[0]}"`,
        'pass one token, and files with --from',
      );
    checkSort(given.sort, fieldPaths(given.positions ? PositionRecord : TokenAuthorRecord));
    const isRange = given.all || given.since !== undefined || given.from.length > 0;
    const from = [...given.from, ...files];
    return { ...given, from, token, rows: given.limit ?? (isRange ? undefined : DEFAULT_POSTS) };
  },
  async run(context, { token: text, from, rows, top, ...flags }) {
    const recorded = from.length > 0 ? await RecordedTheses.read(context, from, flags) : undefined;
    const [token = text] = await tokenAddresses([text], context, recorded?.posts.facts(), 'TOKEN');
    const asked = { tokens: [token], limit: rows };
    const code = await runJob(
      tokenJob(
        context,
        recorded
          ? { theses: await recorded.plan(asked), callouts: undefined }
          : await servedPosts(context, asked, flags),
        { ...flags, token, best: top },
      ),
      context,
    );
    const { terminal } = context;
    if (recorded && terminal.io.stderr.isTTY === true)
      noticeVouched(terminal, recorded.vouched(asked.tokens));
    return code;
  },
});

async function servedPosts(
  context: Context,
  asked: AskedTheses,
  flags: RangeFlags & CacheFlags & { readonly all: boolean },
): Promise<TokenPosts> {
  const theses = new ServedTheses(context, await FeedReader.open(context, flags, flags));
  const callouts = await FeedReader.open<PageRow>(context, flags, flags);
  const [mint] = asked.tokens;
  const limit = flags.all ? undefined : CALLOUT_PAGE;
  return {
    theses: await theses.plan(asked),
    callouts: await callouts.plan(calloutFeed(context.service, { mint }, limit)),
  };
}
