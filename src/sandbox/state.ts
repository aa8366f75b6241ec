import type { EndpointId } from '../contract/endpoints.ts';
import { RunningClock, type SandboxClock } from './clock.ts';
import type { Disconnect } from './faults/effects.ts';
import { Faults } from './faults/engine.ts';
import { createKey, type Key, type KeyOptions } from './keys.ts';
import { type Random, randomHex, randomOf } from './random.ts';
import { generateRecords, type WorldSize } from './world/generate.ts';
import { loadRecords } from './world/load.ts';
import { createWorld, type World } from './world/world.ts';

/** Those of `KeyOptions` apply to the first key, those of `WorldSize` to a generated world. */
export interface SandboxOptions extends KeyOptions, WorldSize {
  readonly port?: number;
  readonly seed?: number;
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
  /**
   * Whether a response is the record itself (bare), or has the record under `data` next to `meta`
   * (wrapped).
   */
  readonly envelope?: 'bare' | 'wrapped';
  /**
   * Whether a response with several wallets counts as one reveal, or each entry with a wallet
   * counts as one.
   */
  readonly batchReveals?: 'response' | 'entry';
  /**
   * Changes each record before it is sent, so that tests can try other readings of the description.
   */
  readonly reading?: Reading;
}

type Reading = (record: unknown, endpoint: EndpointId) => unknown;

/** The functions of the sandbox work on this record. */
export interface SandboxState {
  readonly envelope: 'bare' | 'wrapped';
  readonly batchReveals: 'response' | 'entry';
  readonly reading: Reading;
  readonly seed: number;
  readonly clock: SandboxClock;
  readonly world: World;
  readonly faults: Faults;
  burstPerSecond: number;
  /** The keys by their texts. */
  readonly keys: Map<string, Key>;
  /** The times of the latest calls that count against a rate limit, by the name of the limit. */
  readonly rateWindows: Map<string, number[]>;
  /** The live resolves in progress, by user id: a repeated call joins the one that is running. */
  readonly resolves: Map<string, LiveResolve>;
  readonly sockets: Set<OpenSocket>;
  readonly log: LogEntry[];
  readonly counts: Counts;
  readonly randomIds: Random;
}

interface LiveResolve {
  /** Before that, it waits in the queue. */
  readonly startsAt: number;
  readonly doneAt: number;
}

interface Counts {
  posts: number;
  /** Calls without a response yet. */
  inFlight: number;
  resolvesStarted: number;
  /** Calls that wait for a live resolve. */
  resolvesWaiting: number;
}

export interface OpenSocket {
  offer(id: string, tokenAddress: string | null, text: string): void;
  disconnect(how: Disconnect, code?: number): void;
}

interface LogEntry {
  readonly requestId: string;
  readonly path: string;
  /**
   * The endpoint; null for an unknown path. `ws` is a handshake, or a charge for an open
   * connection.
   */
  readonly endpoint: EndpointId | 'ws' | 'openapi' | null;
  /** The HTTP status; 0 if no response was sent. */
  readonly status: number;
  readonly cu: number;
}

export function createState(options: SandboxOptions): SandboxState {
  const { seed = 1, clock = new RunningClock(), data } = options;
  const records = () =>
    data === undefined ? generateRecords(seed, clock.now(), options) : loadRecords(data);
  return {
    envelope: options.envelope ?? 'bare',
    batchReveals: options.batchReveals ?? 'response',
    reading: options.reading ?? ((record) => record),
    seed,
    clock,
    world: options.world ?? createWorld(records(), seed),
    faults: new Faults(options.faults ?? '', seed),
    burstPerSecond: options.burstPerSecond ?? MIN_BURST,
    keys: new Map(),
    rateWindows: new Map(),
    resolves: new Map(),
    sockets: new Set(),
    log: [],
    counts: { posts: 0, inFlight: 0, resolvesStarted: 0, resolvesWaiting: 0 },
    randomIds: randomOf(seed, 'ids'),
  };
}

export function addKey({ keys, seed, clock }: SandboxState, options: KeyOptions): Key {
  const number = keys.size + 1;
  const text =
    options.key ??
    `trdr_${options.mode ?? 'test'}_${randomHex(randomOf(seed, `key ${number}`), 32)}`;
  const key = createKey(`key-${number}`, text, options, clock.now());
  keys.set(text, key);
  return key;
}

/**
 * The burst limit is also at least the rate of the first key, which therefore reaches its own limit
 * first.
 */
const MIN_BURST = 100;

/**
 * The log drops its older half at twice this number of entries, because a sandbox may run for
 * months.
 */
const MIN_ENTRIES = 20_000;

export function addToLog({ log }: SandboxState, entry: LogEntry): void {
  log.push(entry);
  if (log.length > 2 * MIN_ENTRIES) log.splice(0, MIN_ENTRIES);
}

export const nextId = ({ randomIds }: SandboxState, prefix: string): string =>
  `${prefix}_${randomHex(randomIds, 16)}`;
