import type { Sent } from '../../contract/read-record.ts';
import type { AuthorPosition } from '../../contract/records/position.ts';
import { answerOf, type Lookup, type LookupAnswer } from '../../core/lookup/lookup.ts';
import { readSubject, type SubjectType } from '../../core/lookup/subject.ts';
import { type Conditions, createFilter, normalName } from '../../core/pages/filter.ts';
import { comparePositions } from '../../core/positions/compare.ts';
import { AuthorPositions } from '../../core/positions/positions.ts';
import { summaryOf } from '../../core/positions/summary.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import { authorView, positionsView } from '../../output/views/author.ts';
import { isOneWord } from '../args/subjects.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeCached, resumeRest } from '../lookup/lookup-task.ts';
import { LookupTally } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import type { AuthorPosts, AuthorSource } from './author-posts.ts';
import { cardRows } from './card-rows.ts';
import { inOrderOf } from './list-job.ts';

/** What is shown of authors, and in which order. */
export interface AuthorsShown {
  readonly conditions: Conditions;
  /** Whether the positions are printed in place of their authors. */
  readonly positions: boolean;
  readonly sort: string | undefined;
  readonly reverse: boolean;
  readonly top: number | undefined;
  /** The positions of an earlier output, by author: only what changed since is printed. */
  readonly earlier: ReadonlyMap<string, readonly AuthorPosition[]> | undefined;
}

interface AuthorInput extends AuthorsShown {
  readonly source: SubjectSource;
  readonly as: SubjectType | undefined;
  readonly strict: boolean;
}

/** What became of the posts of authors. */
export async function authorJob(
  context: Context,
  authors: AuthorSource,
  { source, as, strict, ...shown }: AuthorInput,
): Promise<CommandJob> {
  const found = new FoundAuthors(context, shown, isOneWord(source));
  return await lookupJob(context, {
    view: shown.positions
      ? positionsView(shown.earlier !== undefined)
      : authorView((record) => found.shownOf(record), context.terminal.io.clock.now()),
    source,
    read: (text) => readSubject(text, as),
    tally: new LookupTally(strict, context.terminal.io.clock.now()),
    doing: 'reading the posts of',
    noun: 'author',
    resume: context.bill.isCached ? resumeCached : resumeRest,
    isList: shown.positions,
    isOffline: authors.isOffline,
    rows: (records) => found.rows(records),
    plan: (subjects) => authors.plan(subjects, (posts) => found.add(posts)),
  });
}

interface FoundAuthor {
  readonly id: string;
  readonly positions: readonly AuthorPosition[];
  readonly readAt: number | null;
}

/** The authors of a run, with their positions. */
class FoundAuthors {
  readonly #context: Context;
  readonly #shown: AuthorsShown;
  /** Whether positions are printed, so that they have to be kept. */
  readonly #isPrinted: boolean;
  readonly #byId = new Map<unknown, FoundAuthor>();
  readonly #changes = { closed: 0, new: 0, changed: 0, left: 0 };

  constructor(context: Context, shown: AuthorsShown, isSingle: boolean) {
    this.#context = context;
    this.#shown = shown;
    this.#isPrinted = isSingle || shown.positions;
  }

  /** The answer about an author, also if the posts were read only in part. */
  add({ id, user, posts, complete, failure, readAt, via }: AuthorPosts): LookupAnswer {
    const now = this.#context.terminal.io.clock.now();
    if (failure && posts.length === 0) return answerOf(failure.error, now);
    const all = new AuthorPositions(posts);
    const positions = positionsWith(all.list(), this.#shown.conditions);
    const { newest } = all;
    const { open: isOpenOnly, closed: isClosedOnly } = this.#shown.conditions;
    const record = {
      id,
      handle: user?.['handle'] ?? newest['authorHandle'] ?? null,
      name: user?.['name'] ?? newest['authorName'] ?? null,
      ...all.read,
      complete,
      ...summaryOf(positions),
      // What a filter leaves out is not known to be none.
      ...(isOpenOnly && { closed: null }),
      ...(isClosedOnly && { open: null }),
      beside: all.beside,
    };
    this.#byId.set(id, { id, positions: this.#isPrinted ? positions : [], readAt });
    return { found: true, record, time: readAt ?? now, from: via, failure: failure?.error };
  }

  rows(records: AsyncIterable<Lookup['record']>): AsyncIterable<object> {
    const { sort, reverse, top: best } = this.#shown;
    return inOrderOf({ sort, reverse, best }, this.#rowsOf(records));
  }

  /** The positions of an author, as a card shows them. */
  shownOf(record: Sent): readonly Sent[] {
    const { positions = [] } = this.#byId.get(record['id']) ?? {};
    return cardRows(this.#context.terminal, positions.map(asSent), this.#shown, 'positions');
  }

  async *#rowsOf(records: AsyncIterable<Lookup['record']>): AsyncGenerator<Sent, void, void> {
    const { positions: isList, earlier } = this.#shown;
    for await (const record of records) {
      const author = record.found ? this.#byId.get(record['id']) : undefined;
      if (author === undefined) yield record;
      // Nothing is known of when files without a certificate were read from the service.
      else if (!isList) yield { ...record, readAt: author.readAt };
      else for (const one of this.#changesOf(author)) yield { ...one, readAt: author.readAt };
    }
    const { notice, io } = this.#context.terminal;
    if (earlier !== undefined && io.stderr.isTTY === true) notice(this.#summary());
  }

  /** The positions of an author, or what changed of them. */
  #changesOf({ id, positions }: FoundAuthor): readonly AuthorPosition[] {
    const { earlier, conditions } = this.#shown;
    if (earlier === undefined) return positions;
    const before = positionsWith(earlier.get(normalName(id)) ?? [], conditions);
    const compared = comparePositions(positions, before);
    for (const { change } of compared) this.#changes[change]++;
    return compared;
  }

  #summary(): string {
    const { closed, new: added, changed, left } = this.#changes;
    return `${closed} closed since, ${added} new, ${changed} changed, ${left} no longer read`;
  }
}

const asSent = (position: AuthorPosition): Sent => ({ ...position });

/** The conditions are those of posts, of which each looks at a field that a position has too. */
function positionsWith(positions: readonly AuthorPosition[], conditions: Conditions) {
  const isWanted = createFilter<{ readonly record: Sent }>(conditions);
  return positions.filter(({ network, tradeUsd, closedAt, status }) =>
    isWanted({
      record: {
        tokenNetwork: network,
        authorTradeUsd: tradeUsd,
        closedAt: status === 'unknown' ? undefined : closedAt,
      },
    }),
  );
}
