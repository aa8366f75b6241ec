import type { EndpointId } from '../contract/endpoints.ts';
import type { User } from '../contract/records/user.ts';
import { runningClock, type SandboxClock } from './clock.ts';
import { createFaults, type Faults } from './faults/engine.ts';
import type { Disconnect } from './faults/kinds.ts';
import type { Key, KeyOptions } from './keys/key.ts';
import { planTerms } from './keys/plans.ts';
import { type Random, randomHex, randomOf } from './random.ts';
import { generateRecords, type WorldSize } from './world/generated/index.ts';
import { loadRecords } from './world/load.ts';
import type { World } from './world/world.ts';
import { createWorld } from './world/world.ts';

/**
 * The options of `startSandbox`. The options of `KeyOptions` apply to the first key, those of `WorldSize` to a
 * generated world.
 */
export interface SandboxOptions extends KeyOptions, WorldSize, Partial<OpenQuestions> {
  readonly port?: number;
  readonly seed?: number;
  /** The time at which the clock starts; by default, now. */
  readonly now?: number;
  /** The clock of the sandbox; by default, a clock that runs in real time. */
  readonly clock?: SandboxClock;
  readonly data?: string | undefined;
  readonly world?: World;
  /** Live posts per minute; 0 by default. */
  readonly rate?: number;
  /** A recorded feed that is replayed instead of generated live posts. `speed` is a factor. */
  readonly replay?: { readonly file: string; readonly speed: number };
  readonly faults?: string | undefined;
  /** The maximum number of requests per second of an IP address, over all keys. */
  readonly burstPerSecond?: number;
}

/** What the service description does not state. */
interface OpenQuestions {
  /** Whether a response is the record itself (bare), or has the record under `data` next to `meta` (wrapped). */
  readonly envelope: 'bare' | 'wrapped';
  /** Whether pages can have more than 20 rows (full) or not (capped). */
  readonly page: 'full' | 'capped';
  /** Where `retryAfter` is in the body of a 429: next to `error` or inside it. */
  readonly retryAfter: 'beside' | 'inside';
  /** Whether a response with several wallets counts as one reveal, or each entry with a wallet counts as one. */
  readonly batchReveals: 'response' | 'entry';
  /** Whether a started minute of a socket is charged in full, or time is charged as it passes. */
  readonly socketBilling: 'started' | 'elapsed';
}

/** Everything that a running sandbox knows and counts. The functions of the sandbox work on this record. */
export interface SandboxState extends OpenQuestions {
  readonly seed: number;
  readonly clock: SandboxClock;
  readonly world: World;
  readonly faults: Faults;
  readonly burstPerSecond: number;
  /** The keys by their texts. */
  readonly keys: Map<string, Key>;
  /** The times of the latest calls that count against a rate limit, by the name of the limit. */
  readonly rateWindows: Map<string, number[]>;
  /** The live resolves in progress, by user id. */
  readonly resolves: Map<string, RunningResolve>;
  readonly sockets: Set<OpenSocket>;
  /** The latest requests with their charges, rejected ones included: at least the last 20,000. */
  readonly log: LogEntry[];
  readonly counts: {
    posts: number;
    /** Calls without a response yet. */
    inFlight: number;
    resolvesStarted: number;
    /** Calls that wait for a live resolve. */
    resolvesWaiting: number;
  };
  /** Cancels the next live posts. */
  cancelPosts: () => void;
  readonly randomIds: Random;
}

/** A live resolve; `done` is undefined if a restart cancelled it. */
export interface RunningResolve {
  readonly startsAt: number;
  readonly done: Promise<User | undefined>;
  readonly cancel: () => void;
}

/** An open WebSocket connection. */
export interface OpenSocket {
  offer(post: FramedPost): void;
  disconnect(how: Disconnect, code?: number): void;
}

/** A post with the text of its frame, which is the same for all connections. */
interface FramedPost {
  readonly id: string;
  readonly tokenAddress: string | null;
  readonly text: string;
}

/** An entry of the request log. */
interface LogEntry {
  readonly requestId: string;
  readonly path: string;
  /** The endpoint; null for an unknown path. `ws` is a handshake, or a charge for an open connection. */
  readonly endpoint: EndpointId | 'ws' | 'openapi' | null;
  /** The HTTP status; 0 if no response was sent. */
  readonly status: number;
  readonly cu: number;
}

/** At twice this number, the log drops its older half. */
const MIN_ENTRIES = 20_000;

export function createState(options: SandboxOptions): SandboxState {
  const { seed = 1, clock = runningClock(options.now), plan = 'growth' } = options;
  const { ratePerMinute = planTerms[plan].ratePerMinute } = options;
  const records = () =>
    options.data === undefined ? generateRecords(seed, clock.now(), options) : loadRecords(options.data);
  return {
    seed,
    clock,
    world: options.world ?? createWorld(records(), seed),
    faults: createFaults(options.faults ?? '', seed),
    envelope: options.envelope ?? 'bare',
    page: options.page ?? 'full',
    retryAfter: options.retryAfter ?? 'beside',
    batchReveals: options.batchReveals ?? 'response',
    socketBilling: options.socketBilling ?? 'started',
    // The default is so high that the first key reaches its own limit before this one.
    burstPerSecond: options.burstPerSecond ?? Math.max(100, ratePerMinute),
    keys: new Map(),
    rateWindows: new Map(),
    resolves: new Map(),
    sockets: new Set(),
    log: [],
    counts: { posts: 0, inFlight: 0, resolvesStarted: 0, resolvesWaiting: 0 },
    cancelPosts: () => {},
    randomIds: randomOf(seed, 'ids'),
  };
}

export function addToLog({ log }: SandboxState, entry: LogEntry): void {
  log.push(entry);
  if (log.length > 2 * MIN_ENTRIES) log.splice(0, MIN_ENTRIES);
}

export const nextId = ({ randomIds }: SandboxState, prefix: string): string =>
  `${prefix}_${randomHex(randomIds, 16)}`;
