import { type Delivered, LOOK_BACK_MS } from './delivered.ts';
import { before, entryMs, isBefore, isBeginning, type StreamRow, startOf } from './entry.ts';

/** What changed by looking at the stream: it was lost, or is there again without a gap. */
type Change = 'lost' | 'found' | undefined;

interface PlaceState {
  readonly cursor: string;
  readonly isLinked?: boolean;
  readonly hole?: string | undefined;
}

/**
 * Where a follower reads in the stream. The store can lose its last entries or all of them, and
 * each entry names the post before it: an entry that names an unread post shows that posts are
 * missing.
 */
export class StreamPlace {
  #cursor: string;
  /**
   * Whether the next entry certainly follows what was delivered, because the follower has just
   * found its start.
   */
  #isLinked: boolean;
  /** Whether the store has lost the feed, and no relay has continued it yet. */
  #isLost = false;
  #hole: string | undefined;

  constructor({ cursor, isLinked = false, hole }: PlaceState) {
    this.#cursor = cursor;
    this.#isLinked = isLinked;
    this.#hole = hole;
  }

  /**
   * The entry after which reading continues: the last one read, or an earlier one if that was lost.
   */
  get cursor(): string {
    return this.#cursor;
  }

  get isLinked(): boolean {
    return this.#isLinked;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Posts may be missing before this entry, and no position of the leader has covered it yet. */
  get hole(): string | undefined {
    return this.#hole;
  }

  /** The last entry still exists: reading continues after it. */
  stay(entry: string): Change {
    this.#cursor = entry;
    return this.#setLost(false);
  }

  /**
   * The last entry was lost: reading continues some time before it. The clock of a server that has
   * taken over may be behind, so the end of the stream may lie before the entry.
   */
  goBack(entry: string, newestEntry: string): void {
    const ms = Math.min(entryMs(entry), entryMs(newestEntry));
    this.#cursor = before(startOf(ms - LOOK_BACK_MS));
  }

  /** The stream is empty. Nothing was lost if the feed knows no post that was not delivered. */
  startOver(isDelivered: boolean): Change {
    this.#cursor = '0-0';
    return this.#setLost(!isDelivered);
  }

  /** Rows up to this entry were read. */
  advance(entry: string): void {
    this.#cursor = entry;
    this.#isLinked = false;
  }

  /** Whether the first row of a reply certainly follows what was delivered. */
  follows(first: StreamRow, delivered: Delivered): boolean {
    const isNew = isRestart(first, delivered);
    // A follower that began before the feed can only miss posts that the store lost with the first
    // of them.
    if (delivered.isEmpty ? isNew : this.#isLinked || delivered.last === null) return true;
    if (delivered.has(first.prev) || delivered.hasEntry(first)) return true;
    return delivered.isRepeated(first) && !isNew;
  }

  /** The entries that were read continue, without a gap. */
  join(): Change {
    return this.#setLost(false);
  }

  /** Posts are missing before this entry. */
  missBefore(entry: string): void {
    this.#isLost = false;
    this.#hole = entry;
  }

  /**
   * Whether a position of the leader, which covers the entries up to `covered`, covers no more than
   * was read, and everything up to the hole.
   */
  isCovered(covered: string, read: string): boolean {
    if (isBefore(read, covered)) return false;
    return this.#hole === undefined || !isBefore(covered, this.#hole);
  }

  /**
   * A position of the leader covers the hole: what was missing is known to be missing. Returns
   * whether there was one.
   */
  closeHole(): boolean {
    const hadHole = this.#hole !== undefined;
    this.#hole = undefined;
    return hadHole;
  }

  #setLost(isLost: boolean): Change {
    if (this.#isLost === isLost) return undefined;
    this.#isLost = isLost;
    return isLost ? 'lost' : 'found';
  }
}

/**
 * Whether a leader that knew nothing has started the feed over, without the posts that were there
 * then.
 */
export const isRestart = (row: StreamRow, delivered: Delivered): boolean =>
  row.prev === '' || (isBeginning(row) && !delivered.has(row.prev));
