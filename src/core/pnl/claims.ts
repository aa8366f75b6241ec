import { once } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import type { RowStates } from '../../base/row-states.ts';
import type { NumbersClaim, SavedNumbers } from './cached-numbers.ts';
import type { Handles } from './handles.ts';
import type { NumbersResult } from './request-batch.ts';

/**
 * Longer than a call of another machine can take. After this, this machine requests the handle
 * itself.
 */
const PATIENCE_MS = 150_000;
const POLL_MS = 100;

/** The next rows of a run. */
export interface ClaimedRows {
  /** What this machine has to request. */
  readonly rows: readonly number[];
  /** What another machine has meanwhile requested. */
  readonly results: readonly NumbersResult[];
  /** Gives up the claims of this machine, so that others may request these handles. */
  end(): Promise<void>;
}

/**
 * Chooses the next rows of a run, so that of the machines that share their answers, only one
 * requests a handle. Rows that another machine is requesting wait for one turn.
 */
export class Claims {
  readonly #states: RowStates;
  readonly #handles: Pick<Handles, 'nameOf'>;
  readonly #saved: Pick<SavedNumbers, 'claim'> | undefined;
  readonly #clock: Pick<Clock, 'mono' | 'sleep'>;
  /** When another machine was first seen requesting the row. */
  readonly #since = new Map<number, number>();
  #parked: readonly number[] = [];
  /** Whether all rows of the last turn are requested elsewhere. */
  #isIdle = false;

  constructor(
    states: RowStates,
    handles: Pick<Handles, 'nameOf'>,
    saved: Pick<SavedNumbers, 'claim'> | undefined,
    clock: Pick<Clock, 'mono' | 'sleep'>,
  ) {
    this.#states = states;
    this.#handles = handles;
    this.#saved = saved;
    this.#clock = clock;
  }

  /** The number of rows that this run may have to request. */
  get left(): number {
    return this.#states.count('open') + this.#parked.length;
  }

  async next(count: number, signal?: AbortSignal): Promise<ClaimedRows> {
    const rows = this.#states.open(count);
    for (const row of this.#parked) this.#states.release(row);
    this.#parked = [];
    if (!this.#saved) return { rows, results: [], end: async () => {} };
    if (rows.length === 0 || this.#isIdle) await this.#clock.sleep(POLL_MS, signal);
    const claims = await Promise.all(rows.map((row) => this.#claim(row)));
    this.#parked = rows.filter((_, at) => claims[at]?.by === 'other');
    for (const row of this.#parked) this.#states.wait(row);
    this.#isIdle = this.#parked.length === rows.length;
    return {
      rows: rows.filter((_, at) => claims[at]?.by === 'us'),
      results: rows.flatMap((row, at) => {
        const claim = claims[at];
        return claim?.by === 'cache' ? [{ row, value: claim.record }] : [];
      }),
      end: once(async () => {
        await Promise.all(claims.map((claim) => claim.by === 'us' && claim.end()));
      }),
    };
  }

  async #claim(row: number): Promise<NumbersClaim> {
    const since = this.#since.get(row);
    const claim = (await this.#saved?.claim(this.#handles.nameOf(row), 0)) ?? alone;
    if (claim.by !== 'other') return claim;
    if (since === undefined) this.#since.set(row, this.#clock.mono());
    else if (this.#clock.mono() - since > PATIENCE_MS) return alone;
    return claim;
  }
}

const alone: NumbersClaim = { by: 'us', end: async () => {} };
