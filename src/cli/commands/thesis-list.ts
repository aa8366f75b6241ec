import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CountedPosts } from '../../contract/records/counted-posts.ts';
import { ListedThesis } from '../../contract/records/thesis.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { thesisCall, thesisFeedOf, thesisScopes, thesisSource } from '../../core/pages/feeds.ts';
import { thesisView } from '../../output/views/thesis.ts';
import { thesisFeedName } from '../../tail/source.ts';
import {
  countByOption,
  fromArgument,
  fromOption,
  type ListInput,
  listOptions,
  readListFlags,
  thesisFilterOptions,
} from '../args/list-flags.ts';
import { flag, list } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { listJob } from '../lists/list-job.ts';
import { DAY } from '../lists/post-counter.ts';
import { listRecorded } from '../lists/recorded-list.ts';
import { theses } from '../lists/theses.ts';
import { planLookup, userIds } from '../lookup/author-lookup.ts';
import { notingAuthors } from '../lookup/author-notes.ts';
import { authorOptions, readAuthors, thesisCalls } from '../lookup/authors.ts';
import { savingTokens, tokenAddresses } from '../lookup/token.ts';
import { runJob } from '../run/job.ts';
import { filtersOf } from '../tail/filters.ts';
import page from './thesis-list.md';

export const thesisList = command({
  path: 'thesis list',
  page,
  args: [fromArgument],
  options: {
    token: list('--token', 'only theses about this token (address or symbol)', text('token')),
    ...authorOptions,
    ...thesisFilterOptions,
    ...listOptions,
    countBy: countByOption('tokenSymbol', 'authorHandle', 'tokenNetwork', DAY),
    from: fromOption,
    strict: flag('--strict', 'with --from: exit 10 if the files may lack posts of the range'),
  },
  mostUsed: [
    'token',
    'user',
    'symbol',
    'grep',
    'minHoldings',
    'limit',
    'all',
    'since',
    'until',
    'sort',
    'reverse',
  ],
  common: ['output', 'service', 'money'],
  calls: thesisCalls,
  record: () => z.union([ListedThesis, CountedPosts]),
  exits: [3, 10],
  parse(words, flags) {
    const { strict } = flags;
    const from = [...flags.from, ...words];
    if (words.length > 0 && flags.from.length === 0)
      throw usageError(
        `unexpected argument "${words[0]}"`,
        'name an author with --user NAME, a token with --token ADDRESS, and files with --from FILE',
      );
    const isRecorded = from.length > 0;
    if (strict && !isRecorded)
      throw usageError('--strict requires --from', 'add the files: --from FILE');
    return { ...readListFlags(flags, fieldPaths(ListedThesis), isRecorded), from, strict };
  },
  async run(context, { token, user, users, column, from, strict, ...flags }) {
    if (from.length > 0)
      return await listRecorded(context, { from, strict, token, user, users, column }, flags);
    const tokens = await tokenAddresses(token, context);
    const authors = await readAuthors({ user, users, column }, context);
    const people = await planLookup(authors, userIds, context);
    const planned = thesisScopes(people.planned, tokens);
    const limit = Math.min(flags.rows ?? THESIS_BLOCK, THESIS_BLOCK);
    const isSeveral = authors.length > 1 || users !== undefined;
    const job = listJob(context, flags, {
      ...theses,
      view: { ...thesisView, empty: emptyText(flags, authors, token) },
      first: people,
      page: thesisCall(planned[0] ?? {}, { limit }),
      feeds: planned.length,
      feedNoun: planned[0]?.userId === undefined ? 'token' : 'author',
      isNarrowed: authors.length * tokens.length > 1,
      async open() {
        const ids = await people.find();
        const client = await context.service.client();
        const scopes = thesisScopes(ids, tokens);
        return {
          own: scopes.map((scope) => thesisSource(client, scope)),
          feedOf: thesisFeedOf(scopes, people.handles, people.noticeUnnamed(ids)),
          whole: thesisSource(client),
          name: thesisFeedName(isSeveral ? undefined : ids[0], tokens),
          wanted: { users: [...ids, ...people.handles.values()], tokens },
          among: { users: isSeveral ? ids : [] },
        };
      },
      onPosts: (posts) => notingAuthors(savingTokens(posts, context), context),
    });
    return await runJob(job, context);
  },
});

/**
 * What an empty page proves depends on the feed, and with conditions or a range it proves nothing
 * about the feed.
 */
function emptyText(
  { conditions, since, until, before }: ListInput,
  authors: readonly Subject[],
  tokens: readonly string[],
): string {
  const range = [since, until, before];
  if (Object.keys(filtersOf(conditions)).length > 0 || range.some((bound) => bound !== undefined))
    return 'no theses match';
  const [author] = authors;
  const [token] = tokens;
  const who = authors.length > 1 ? `these ${authors.length} authors` : author?.text;
  const what = tokens.length > 1 ? `these ${tokens.length} tokens` : token;
  if (who !== undefined && what !== undefined)
    return `no theses: the service holds nothing by ${who} about ${what}`;
  if (who !== undefined) return `no theses: the service holds nothing that ${who} posted`;
  if (what !== undefined)
    return `no theses: the service holds nothing about ${what} (upper and lower case matter in a Solana address)`;
  return thesisView.empty;
}
