import { ignoreUnusable } from '../../store/failures.ts';
import { followGroup, type GroupEvent } from '../../store/feed/group.ts';
import type { BatchEvent, GroupOptions } from '../../store/feed/group-batches.ts';
import type { TailRow } from '../post-row.ts';
import type { BatchDelivery } from './batch-delivery.ts';
import type { Ending } from './ending.ts';
import type { StoreProgress } from './store-progress.ts';
import { streamedRow } from './streamed-row.ts';

interface MemberParts {
  readonly group: Omit<GroupOptions, 'batch' | 'lingerMs'>;
  readonly delivery: BatchDelivery;
  readonly progress: StoreProgress;
  readonly ending: Ending;
  readonly isWanted: (row: TailRow) => boolean;
  readonly count?: number | undefined;
}

/**
 * Reads a feed in the store as a member of a group, and acknowledges each batch after its delivery.
 */
export class GroupMember {
  /** The store knows what was delivered, not this member. */
  readonly verified = null;
  readonly #parts: MemberParts;
  /** How many posts may still be delivered. */
  #left: number;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.#left = parts.count ?? Number.POSITIVE_INFINITY;
  }

  /** Delivers batches until the run ends. */
  async run(): Promise<void> {
    const { group, delivery, progress, ending } = this.#parts;
    const { batch, lingerMs } = delivery;
    for await (const event of followGroup({ ...group, batch, lingerMs }, ending.signal)) {
      progress.note(event);
      if (!(await this.#handle(event))) break;
    }
    ending.check();
    progress.end();
  }

  /** Returns whether the run continues. */
  async #handle(event: GroupEvent): Promise<boolean> {
    const { progress } = this.#parts;
    if (event.kind === 'batch') return await this.#deliver(event);
    if (event.kind === 'lost') progress.lost(event.from);
    if (event.kind === 'gap')
      progress.gap({ from: event.from, to: event.to, missing: event.missing });
    return true;
  }

  async #deliver({ rows, over, ack }: BatchEvent): Promise<boolean> {
    const { delivery, progress, isWanted } = this.#parts;
    const wanted = rows.map(streamedRow).filter(isWanted);
    const outcome = await delivery.deliver(wanted, over);
    // A batch that was left unacknowledged is given to a member again by the store.
    if (outcome !== 'done') return outcome === 'left';
    // If the batch cannot be acknowledged, the store also gives it to a member again.
    await ack().catch(ignoreUnusable);
    progress.delivered(wanted);
    // Check --count only after a whole batch, because a batch is acknowledged as a whole.
    this.#left -= wanted.length;
    return this.#left > 0;
  }
}
