import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { PositionRecord, TokenAuthorRecord, TokenRecord } from '../../contract/records/position.ts';
import type { PageRow } from '../../core/pages/post.ts';
import { cacheOptions } from '../args/common.ts';
import {
  checkSort,
  fromArgument,
  type RangeFlags,
  shownOptions,
  summedOptions,
  summedPosts,
} from '../args/list-flags.ts';
import { flag } from '../args/option.ts';
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

export const tokenCommand = command({
  path: 'token',
  page,
  args: [
    { name: 'token', help: 'address, or symbol of a token that was listed before' },
    fromArgument,
  ],
  options: {
    ...summedOptions('theses'),
    positions: flag('--positions', 'print the positions in place of the token'),
    ...shownOptions,
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
    const from = [...given.from, ...files];
    return { ...given, from, token, rows: summedPosts(given, from.length > 0) };
  },
  async run(context, { token: text, from, rows, top, ...flags }) {
    const recorded = await RecordedTheses.read(context, from, flags);
    const [token = text] = await tokenAddresses([text], context, recorded?.posts.all, 'TOKEN');
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
    if (recorded) noticeVouched(context.terminal, recorded.vouched(asked.tokens));
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
