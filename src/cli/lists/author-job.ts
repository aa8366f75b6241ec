import { isRecord } from '../../base/json-object.ts';
import { recordsOf, type Sent } from '../../contract/read-record.ts';
import type { AuthorPosition } from '../../contract/records/position.ts';
import { answerOf, type Lookup, type LookupAnswer } from '../../core/lookup/lookup.ts';
import { readSubject, type SubjectType } from '../../core/lookup/subject.ts';
import { type Conditions, createFilter, normalName } from '../../core/pages/filter.ts';
import { comparePositions } from '../../core/positions/compare.ts';
import { positionsOf } from '../../core/positions/positions.ts';
import { summaryOf } from '../../core/positions/summary.ts';
import type { EarlierPositions } from '../../input/earlier/positions.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import { authorView, positionsView } from '../../output/views/author.ts';
import { timing } from '../../tail/timing.ts';
import { isOneWord } from '../args/subjects.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeCached, resumeRest } from '../lookup/lookup-task.ts';
import { LookupTally } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import { type AuthorPosts, type AuthorSource, planAuthors } from './author-plans.ts';
import { inOrderOf, type RowOrder, rowsBelowCard } from './row-order.ts';
import { UnseenValues } from './unseen-values.ts';

/** What is shown of authors, and in which order. */
interface AuthorsShown extends RowOrder {
  readonly conditions: Conditions;
  /** Whether the positions are printed in place of their authors. */
  readonly positions: boolean;
  /** Only what changed since these positions is printed. */
  readonly earlier: EarlierPositions | undefined;
}

interface AuthorInput extends AuthorsShown {
  readonly source: SubjectSource;
  readonly as: SubjectType | undefined;
  readonly strict: boolean;
  /** Whether nothing is sent. */
  readonly isOffline: boolean;
}

/** What became of the posts of authors. */
export async function authorJob(
  context: Context,
  authors: AuthorSource,
  { source, as, strict, isOffline, ...shown }: AuthorInput,
): Promise<CommandJob> {
  const { terminal, bill } = context;
  const began = terminal.io.clock.now();
  const { tokens } = authors.asked;
  const answers = new AuthorAnswers(context, shown, tokens, isOneWord(source));
  return await lookupJob(context, {
    view: shown.positions
      ? positionsView(shown.earlier !== undefined)
      : authorView(() => rowsBelowCard(terminal, answers.positions, shown, 'positions'), began),
    source,
    read: (text) => readSubject(text, as),
    tally: new LookupTally(strict, began),
    doing: 'reading the posts of',
    noun: 'author',
    resume: bill.isCached ? resumeCached : resumeRest,
    isList: shown.positions,
    isOffline,
    rows: (records) => inOrderOf(shown, answers.rows(records)),
    plan: (subjects) => planAuthors(authors, subjects, (posts) => answers.answer(posts)),
  });
}

const changeNames = ['closed', 'new', 'changed', 'left'] as const;

/** The answers about authors, from which their rows are made. */
class AuthorAnswers {
  /** The positions of the last author, for a card. */
  positions: readonly Sent[] = [];
  readonly #context: Context;
  readonly #shown: AuthorsShown;
  /** The tokens that are asked about; empty for all. */
  readonly #tokens: readonly string[];
  /** Whether positions are printed, so that they have to be kept. */
  readonly #hasPositions: boolean;
  readonly #unseen: UnseenValues;
  readonly #changes = { closed: 0, new: 0, changed: 0, left: 0 };
  /** How many of the new positions the earlier output might have had. */
  #old = 0;

  constructor(context: Context, shown: AuthorsShown, tokens: readonly string[], isSingle: boolean) {
    this.#context = context;
    this.#shown = shown;
    this.#tokens = tokens;
    this.#hasPositions = isSingle || shown.positions;
    this.#unseen = new UnseenValues(context, shown.conditions, {
      symbolField: 'symbol',
      networkField: 'network',
      pageRows: Number.POSITIVE_INFINITY,
      noun: ['position'],
    });
  }

  /** The answer about an author, also if the posts were read only in part. */
  answer({ id, user, posts, complete, failure, readAt, via }: AuthorPosts): LookupAnswer {
    const now = this.#context.terminal.io.clock.now();
    if (failure && posts.length === 0) return answerOf(failure.error, now);
    const { open: isOpenOnly, closed: isClosedOnly } = this.#shown.conditions;
    const { read, newest, beside, ...all } = positionsOf(posts);
    for (const { network } of all.positions) this.#unseen.saw({ network });
    const isWanted = isPositionWith(this.#shown.conditions);
    const positions = all.positions.filter(isWanted);
    const author = {
      id,
      handle: user?.['handle'] ?? newest?.authorHandle ?? null,
      name: user?.['name'] ?? newest?.authorName ?? null,
      ...read,
      complete,
      ...summaryOf(positions),
      // What a filter leaves out is not known to be none.
      ...(isOpenOnly && { closed: null }),
      ...(isClosedOnly && { open: null }),
      beside,
      // Nothing is known of when files without a certificate were read from the service.
      readAt,
    };
    const { earlier } = this.#shown;
    const rows = earlier ? this.#changesOf(id, all.positions, earlier, isWanted) : positions;
    const record = { author, positions: this.#hasPositions ? rows : [] };
    return { found: true, record, time: readAt ?? now, from: via, failure: failure?.error };
  }

  async *rows(records: AsyncIterable<Lookup['record']>): AsyncGenerator<Sent, void, void> {
    const { positions: isList, earlier } = this.#shown;
    // Two subjects may be one author, whose positions are printed once.
    const listed = new Set<unknown>();
    for await (const record of records) {
      const { author, positions }: Sent = record;
      if (!isRecord(author)) yield record;
      else if (isList) {
        const { id, readAt } = author;
        for (const one of listed.has(id) ? [] : recordsOf(positions)) {
          this.#count(one);
          // What is not read any more is as it was when the earlier output was.
          yield one['change'] === 'left' ? one : { ...one, readAt };
        }
        listed.add(id);
      } else {
        this.positions = recordsOf(positions);
        yield { subject: record.subject, found: true, ...author, via: record['via'] };
      }
    }
    this.#unseen.check(undefined);
    const { notice, io } = this.#context.terminal;
    const { closed, new: added, changed, left } = this.#changes;
    if (earlier !== undefined && io.stderr.isTTY === true)
      notice(`${closed} closed since, ${added} new, ${changed} changed, ${left} no longer read`);
    if (this.#old > 0)
      notice(
        `${this.#old} of ${added} new positions were posted before the earlier output was read, and are not in it: it may be of fewer posts, or of another service`,
      );
  }

  /** A position that was wanted counts although it has closed since. */
  #changesOf(
    id: string,
    positions: readonly AuthorPosition[],
    { byAuthor }: EarlierPositions,
    isWanted: (position: AuthorPosition) => boolean,
  ): readonly AuthorPosition[] {
    const before = byAuthor.get(normalName(id)) ?? [];
    const isAsked = ({ token }: AuthorPosition) =>
      this.#tokens.length === 0 || this.#tokens.includes(token);
    return comparePositions(positions, before.filter(isAsked), isWanted);
  }

  #count({ change, lastAt }: Sent): void {
    const name = changeNames.find((one) => one === change);
    if (name !== undefined) this.#changes[name]++;
    const readAt = this.#shown.earlier?.readAt ?? Number.POSITIVE_INFINITY;
    if (name === 'new' && Number(lastAt) < readAt - timing.latenessMs) this.#old++;
  }
}

/** The conditions are those of posts, of which each looks at a field that a position has too. */
function isPositionWith(conditions: Conditions) {
  const isWanted = createFilter<{ readonly record: Sent }>(conditions);
  return ({ network, tradeUsd, closedAt, status }: AuthorPosition): boolean =>
    isWanted({
      record: {
        tokenNetwork: network,
        authorTradeUsd: tradeUsd,
        closedAt: status === 'unknown' ? undefined : closedAt,
      },
    });
}
