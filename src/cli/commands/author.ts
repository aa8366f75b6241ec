import * as z from 'zod/mini';
import { countText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { AuthorRecord, PositionRecord } from '../../contract/records/position.ts';
import { readPositions } from '../../input/earlier/positions.ts';
import { sourceOf, subjectSource } from '../../input/subject-list.ts';
import { cachedSubjectOptions, subjectArgument } from '../args/common.ts';
import { checkOneInput } from '../args/compare-flags.ts';
import {
  checkSort,
  conditionsOf,
  isRecordedFile,
  shownOptions,
  summedOptions,
  summedPosts,
  thesisFilterOptions,
} from '../args/list-flags.ts';
import { flag, list, value } from '../args/option.ts';
import { isOneWord } from '../args/subjects.ts';
import { file, text } from '../args/values.ts';
import { command } from '../command.ts';
import { authorJob } from '../lists/author-job.ts';
import { FeedReader } from '../lists/feed-reader.ts';
import { RecordedTheses } from '../lists/recorded-theses.ts';
import { ServedTheses } from '../lists/served-theses.ts';
import { noticeVouched } from '../lists/vouched-text.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { tokenAddresses } from '../lookup/token.ts';
import { runJob } from '../run/job.ts';
import page from './author.md';

const { network, minTrade, open, closed } = thesisFilterOptions;

export const author = command({
  path: 'author',
  page,
  args: [subjectArgument('subject', 'handle, wallet or user id')],
  options: {
    ...summedOptions('posts of each author'),
    token: list('--token', 'only posts about this token (address or symbol)', text('token')),
    network,
    minTrade,
    open,
    closed,
    positions: flag('--positions', 'print the positions in place of their authors'),
    compare: value('--compare', 'print what changed since this output of --positions', file),
    ...shownOptions,
    ...cachedSubjectOptions('10m; authors 1h'),
  },
  mostUsed: [
    'limit',
    'all',
    'since',
    'token',
    'open',
    'closed',
    'positions',
    'sort',
    'top',
    'from',
  ],
  common: ['output', 'service', 'money'],
  calls: ['thesis.user', 'thesis.userToken', 'user.handle', 'user.id', 'launchpad.user'],
  record: () => z.union([AuthorRecord, PositionRecord]),
  exits: [3, 10],
  parse(args, given) {
    const isRecorded = given.from.length > 0;
    const files = isRecorded ? args.filter(isRecordedFile) : [];
    const words = args.filter((word) => !files.includes(word));
    // Without subjects, --from shows all authors of the files, and --compare those of the output.
    const isWhole =
      (isRecorded || given.compare !== undefined) && words.length === 0 && given.file === undefined;
    const source = isWhole ? undefined : subjectSource(words, given, 'author');
    const isListed = words.includes('-') || given.file === '-';
    checkOneInput('authors', [isListed, given.from.includes('-'), given.compare === '-']);
    const positions = given.positions || given.compare !== undefined;
    const isOne = source !== undefined && isOneWord(source);
    checkSort(given.sort, fieldPaths(positions || isOne ? PositionRecord : AuthorRecord));
    return {
      ...given,
      from: [...given.from, ...files],
      positions,
      source,
      rows: summedPosts(given, isRecorded),
    };
  },
  async run(context, { source, from, token, rows, top, since, until, compare, ...flags }) {
    const { io } = context.terminal;
    const range = { since, until };
    const earlier = compare === undefined ? undefined : await readPositions(compare, io);
    const recorded = await RecordedTheses.read(context, from, range);
    const unnamed = recorded?.posts.all.filter(({ authorId }) => authorId === null).length ?? 0;
    if (unnamed > 0)
      context.terminal.notice(`left out ${countText(unnamed, 'post')} without an author id`);
    const tokens = await tokenAddresses(token, context, recorded?.posts.all);
    // What changed since an earlier output is not in pages that are as old.
    const ages = { ...flags, maxAge: flags.maxAge ?? (earlier && 0) };
    const authors = {
      people: recorded ?? (await openCachedLookup(context, { ...flags, way: 'cheap' })),
      theses: recorded ?? new ServedTheses(context, await FeedReader.open(context, range, ages)),
      asked: { tokens, limit: rows },
    };
    const input = {
      ...flags,
      source: source ?? sourceOf(earlier?.byAuthor.keys() ?? recorded?.posts.authors ?? []),
      isOffline: recorded !== undefined,
      conditions: conditionsOf({ ...flags, symbol: [], grep: undefined, exclude: undefined }),
      best: top,
      earlier,
    };
    const code = await runJob(await authorJob(context, authors, input), context);
    if (recorded) noticeVouched(context.terminal, recorded.vouched(tokens));
    return code;
  },
});
