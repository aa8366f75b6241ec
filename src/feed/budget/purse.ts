import { Failure } from '../../contract/failure.ts';
import { type Job, startJob } from '../job.ts';
import { leastSeconds, type PagePrice, pollPerMinute, pollSeconds, type Rate, SOCKET_CU } from '../pace.ts';
import type { KeyFacts, World } from '../ports.ts';
import type { Timing } from '../timing.ts';
import type { Meter } from './meter.ts';
import { againstSocket, type PollReason, type Via, type Way } from './ways.ts';

/** What may be spent, and what it is best spent on. */
export interface Purse {
  /** Whether `cu` more fit under the ceiling. */
  afford(cu: number): boolean;
  /** Milliseconds between polls. */
  readonly pollMs: number;
  /** CU a minute of a way. */
  perMinute(way: Way): number;
  /** What speaks against one more minute of the socket. */
  against(shortSessions: number): PollReason | undefined;
  /** Asks the free `me` for what is left, every now and then. */
  step(way: Way): void;
  readonly due: number;
  /** Settles when the first answer is there; throws where the key is not known. */
  first(wait: () => Promise<void>): Promise<void>;
  settled(): Promise<void>;
}

interface PurseWorld {
  readonly world: Pick<World, 'clock' | 'key'>;
  readonly timing: Timing;
  readonly meter: Meter;
  readonly rate: Rate;
  readonly price: PagePrice;
  readonly via: Via;
  readonly hasSocket: boolean;
  readonly lagMs: number;
  readonly ceiling: number | undefined;
  readonly socketShare: number;
  readonly ring: () => void;
  readonly signal: AbortSignal;
}

/** A purse that starts full: nothing is known of the key until it has been asked. */
export function createPurse({ world, timing, meter, rate, price, ...given }: PurseWorld): Purse {
  const { clock, key } = world;
  let facts: KeyFacts | undefined;
  let atStart: number | null = null;
  let job: Job<KeyFacts> | undefined;
  let next = clock.mono();

  const ceilingLeft = () => (given.ceiling === undefined ? null : given.ceiling - meter.spent.most);
  const pollMs = () => {
    const least = leastSeconds(facts?.ratePerMinute ?? null);
    return 1_000 * pollSeconds(rate.perSecond, given.lagMs / 1_000, least, price);
  };

  const look = (): unknown => {
    const outcome = job?.outcome;
    if (!outcome) return undefined;
    job = undefined;
    if ('error' in outcome) return outcome.error;
    facts = outcome.value;
    atStart ??= facts.remaining;
    return undefined;
  };

  const step = (way: Way) => {
    look();
    if (!key || job || clock.mono() < next) return;
    next = clock.mono() + (way === 'ws' ? timing.keyMs : 10 * timing.keyMs);
    job = startJob(given.ring, () => key(given.signal));
  };

  return {
    afford: (cu) => (ceilingLeft() ?? cu) >= cu,
    get pollMs() {
      return pollMs();
    },
    perMinute: (way) => (way === 'ws' ? SOCKET_CU : pollPerMinute(rate.perSecond, pollMs() / 1_000, price)),
    against: (shortSessions) =>
      againstSocket({
        via: given.via,
        hasSocket: given.hasSocket,
        live: facts?.live ?? null,
        ceilingLeft: ceilingLeft(),
        allowanceLeft: facts?.remaining ?? null,
        allowanceAtStart: atStart,
        socketShare: given.socketShare,
        socketSpent: meter.socket,
        shortSessions,
      }),
    step,
    get due() {
      return key ? next : Number.POSITIVE_INFINITY;
    },
    async first(wait) {
      step('ws');
      while (job && !given.signal.aborted) {
        await wait();
        const error = look();
        // Whatever else is wrong, the pages will tell.
        if (error instanceof Failure && error.kind === 'auth') throw error;
      }
    },
    settled: async () => job?.settled,
  };
}
