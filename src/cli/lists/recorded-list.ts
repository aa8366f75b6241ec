import { Failure } from '../../base/failure.ts';
import { thesisFeedName } from '../../tail/source.ts';
import type { ListInput } from '../args/list-flags.ts';
import type { GivenFlags } from '../args/option.ts';
import type { ExitCode } from '../exit.ts';
import { type authorOptions, readAuthors } from '../lookup/authors.ts';
import { tokenAddresses } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { runJob } from '../run/job.ts';
import { filtersOf } from '../tail/filters.ts';
import { FilePages, PostLines } from './line-posts.ts';
import { listJob } from './list-job.ts';
import { readRecorded } from './recorded-theses.ts';
import { theses } from './theses.ts';
import { noticeVouched } from './vouched-text.ts';

interface RecordedScope extends GivenFlags<typeof authorOptions> {
  readonly from: readonly string[];
  readonly strict: boolean;
  readonly token: readonly string[];
}

/** Lists the theses of files in place of those of the service. Nothing is sent, or needs a key. */
export async function listRecorded(
  context: Context,
  { from, strict, token, ...authors }: RecordedScope,
  flags: ListInput,
): Promise<ExitCode> {
  const { terminal } = context;
  const lines = new PostLines();
  const { posts, vouchers } = await readRecorded(context, from, flags, lines);
  const subjects = await readAuthors(authors, context, false);
  const ids = subjects.map(
    (subject) => posts.idOf(subject) ?? posts.unnamed(subject.normal) ?? nobody(subject.text),
  );
  const tokens = await tokenAddresses(token, context, posts.all);
  const names = subjects.map(({ normal }) => normal);
  const job = listJob(context, flags, {
    ...theses,
    isRecorded: true,
    // Nothing is paid for, so all posts decide whether a value exists.
    pageRows: Number.POSITIVE_INFINITY,
    isNarrowed: true,
    feeds: 1,
    feedNoun: 'file',
    open: async () => ({
      own: [],
      whole: new FilePages(posts.all, lines),
      feedOf: () => undefined,
      name: thesisFeedName(undefined, []),
      wanted: { users: [...ids, ...names], tokens },
      among: {},
    }),
  });
  const code = await runJob(job, context);
  const filters = filtersOf(flags.conditions);
  const vouched = vouchers.for({ users: ids, tokens, filters });
  noticeVouched(terminal, vouched, strict);
  if (strict && !vouched.isWhole) throw notCovered();
  return code;
}

function nobody(name: string): never {
  throw new Failure('missing', `no posts by ${name} in the files`, {
    code: 'NOT_RECORDED',
    hint: 'check the spelling, or pass the user id',
  });
}

const notCovered = () =>
  new Failure('strict', 'the files may lack posts of the range', {
    code: 'STRICT',
    hint: 'verify them with "trdr verify", or omit --strict to accept incomplete results',
  });
