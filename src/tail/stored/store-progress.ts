import type { Outage } from '../../store/feed/reconnect.ts';
import type { LastPost } from '../health.ts';
import type { PostMark } from '../post-row.ts';

/** Posts that the store no longer has, and that this run has not delivered. */
export interface StoreGap {
  readonly kind: 'gap';
  readonly from: PostMark | null;
  readonly to: PostMark;
  /** Whether a run that asks the service could have delivered them. */
  readonly isFillable?: boolean;
}

/**
 * The store has lost the feed. Whether posts are missing is not known before a relay continues it.
 */
export interface StoreLoss {
  readonly kind: 'lost';
  /** The last post that was delivered. */
  readonly last: PostMark | null;
}

/** What a run that reads from the store reports. */
export type StoreNotice =
  | Outage
  | StoreGap
  | StoreLoss
  | { readonly kind: 'reading' | 'found' }
  /** The posts of a gap are requested from the service. */
  | { readonly kind: 'filling'; readonly from: PostMark; readonly to: PostMark };

type PlainNotice = Exclude<StoreNotice, StoreGap | StoreLoss | { readonly kind: 'filling' }>;

/**
 * What is known of a run that reads from the store: what it delivered, what is missing, and whether
 * it reads.
 */
export class StoreProgress {
  /** Whether the run has been up to date with its feed, or is ready to take over. */
  isReady = false;
  /** Whether the store cannot be reached. */
  isAway = false;
  rows = 0;
  lastPost: LastPost | null = null;
  /**
   * What is missing for certain; the last one may be a loss that lasted until the end of the run.
   */
  readonly missing: (StoreGap | StoreLoss)[] = [];
  /** What is missing if the run ends before the store has the feed again. */
  #loss: StoreLoss | undefined;
  readonly #now: () => number;
  readonly #on: (notice: StoreNotice) => void;

  constructor(now: () => number, on: (notice: StoreNotice) => void) {
    this.#now = now;
    this.#on = on;
  }

  /** Learns from an event of the store, and reports it if it says everything by itself. */
  note(event: { readonly kind: string } | PlainNotice): void {
    const { kind } = event;
    this.isAway = kind === 'away';
    this.isReady ||= kind === 'live';
    if (kind === 'found' || kind === 'gap') this.#loss = undefined;
    if (isPlain(event)) this.#on(event);
  }

  delivered(rows: readonly PostMark[]): void {
    this.rows += rows.length;
    const at = rows.findLast((row) => row.at !== null)?.at ?? null;
    if (at !== null) this.lastPost = { at, lagMs: Math.max(0, this.#now() - at) };
  }

  gap(gap: Omit<StoreGap, 'kind'>): void {
    const notice: StoreGap = { kind: 'gap', ...gap };
    this.missing.push(notice);
    this.#on(notice);
  }

  /** Posts may be missing, unless the store finds them again. */
  lost(last: PostMark | null): void {
    this.#loss = { kind: 'lost', last };
    this.#on(this.#loss);
  }

  filling(from: PostMark, to: PostMark): void {
    this.#on({ kind: 'filling', from, to });
  }

  /** The run has ended: what the store has not found again is missing. */
  end(): void {
    if (this.#loss) this.missing.push(this.#loss);
    this.#loss = undefined;
  }
}

const plainKinds: ReadonlySet<string> = new Set<PlainNotice['kind']>([
  'reading',
  'away',
  'back',
  'found',
]);

const isPlain = (event: { readonly kind: string } | PlainNotice): event is PlainNotice =>
  plainKinds.has(event.kind);
