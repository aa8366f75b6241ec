import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../../store/connection.ts';
import { hashReply, serverNow } from '../../store/connection.ts';
import { timeFrom } from '../../store/feed/entry.ts';
import type { FeedKeys } from '../../store/keys.ts';

/** The minimum time between two reads of the verified time from the store. */
const ASK_MS = 15_000;
/** The same, until a read has returned a verified time. */
const FIRST_ASK_MS = 2_000;

interface LeaderLink {
  use<T>(work: (store: StoreConnection) => Promise<T>): Promise<T>;
}

/**
 * Knows when the leading relay has verified the feed, which is read from the store in the
 * background.
 */
export class LeaderProof {
  /** The time by the clock of this machine; null until it was read. */
  #at: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  readonly #link: LeaderLink;
  readonly #feed: () => FeedKeys;
  readonly #clock: Pick<Clock, 'now' | 'mono'>;

  constructor(link: LeaderLink, feed: () => FeedKeys, clock: Pick<Clock, 'now' | 'mono'>) {
    this.#link = link;
    this.#feed = feed;
    this.#clock = clock;
  }

  /** How long ago the feed was verified; null if that is not known yet. */
  agoMs(): number | null {
    const { now, mono } = this.#clock;
    if (mono() - this.#askedAt >= (this.#at === null ? FIRST_ASK_MS : ASK_MS)) {
      this.#askedAt = mono();
      this.#link.use((connection) => this.#read(connection)).catch(() => {});
    }
    return this.#at === null ? null : Math.max(0, now() - this.#at);
  }

  async #read(connection: StoreConnection): Promise<void> {
    const feed = this.#feed();
    const info = await hashReply(connection, feed.info);
    const leads = Number(await connection.send('PTTL', [feed.lease])) > 0;
    const verified = timeFrom(info.get('verifiedAgo'));
    const renewed = timeFrom(info.get('renewed'));
    if (!leads || verified === null || renewed === null) return;
    const ageMs = verified + (await serverNow(connection)) - renewed;
    this.#at = this.#clock.now() - ageMs;
  }
}
