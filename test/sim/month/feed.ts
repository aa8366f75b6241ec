import { Failure } from '../../../src/base/failure.ts';
import type { Connect, Link, LinkEnd, PageSource } from '../../../src/tail/ports.ts';
import { tailRows } from '../../../src/tail/post-row.ts';
import { EPOCH } from '../posts.ts';
import type { Scheduler } from '../scheduler.ts';

/** A period with faults, in virtual milliseconds. */
export interface Trouble {
  /**
   * Pages fail; frames are lost or doubled; connections close, carry no posts (`mute`), fall silent without an end, or are closed
   * with 1008 because the units are used up; nothing works for so long that unread posts leave the pages (`outage`).
   */
  readonly kind: 'pages' | 'lose' | 'double' | 'close' | 'mute' | 'silent' | 'quota' | 'outage';
  readonly from: number;
  readonly to: number;
}

/** A feed with a post at regular intervals and no end. Posts are computed instead of stored. */
export interface EndlessFeed {
  readonly source: PageSource;
  readonly connect: Connect;
  /** The post time in virtual milliseconds. */
  timeOf(number: number): number;
  /** When pages show the post, in virtual milliseconds. */
  visibleAt(number: number): number;
  pages: number;
}

/** The maximum lateness of a post; the margin of the tail is twice that. */
const LATEST_MS = 60_000;
const PING_MS = 15_000;
/** How long the service takes to notice, by its pings, that a process has ended. */
const NOTICED_MS = 60_000;

/** The open sockets of a key, of which the service allows one. They outlive a killed process. */
export interface OpenSockets {
  open: number;
}

/** A pseudo-random number in [0, 1) that depends only on the seed and the given number. */
function chanceOf(seed: number, number: number): number {
  let mixed = Math.imul((number + 1) ^ Math.imul(seed, 0x9e3779b9), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

interface FeedShape {
  /** The time between two posts. */
  readonly postMs: number;
  readonly sockets?: OpenSockets;
  /** Pages have posts up to this age; older ones are gone. */
  readonly retentionMs?: number;
}

const idOf = (number: number): string => `p${number}`;
export const numberOf = (id: string): number => Number(id.slice(1));

export function createEndlessFeed(
  seed: number,
  scheduler: Scheduler,
  troubles: readonly Trouble[],
  alive: () => boolean,
  { postMs, sockets = { open: 0 }, retentionMs = Number.POSITIVE_INFINITY }: FeedShape,
): EndlessFeed {
  const timeOf = (number: number) => number * postMs + Math.floor(chanceOf(seed, number) * 0.9 * postMs);
  const visibleAt = (number: number) => {
    const late = chanceOf(seed + 1, number);
    return timeOf(number) + (late < 0.02 ? Math.floor(late * 50 * (LATEST_MS - 1_000)) : 200);
  };
  const isActive = (kind: Trouble['kind']) =>
    troubles.some(({ kind: each, from, to }) => each === kind && from <= scheduler.now && scheduler.now < to);
  const recordOf = (number: number) => ({
    id: idOf(number),
    platformCreatedAt: EPOCH + timeOf(number),
    thesis: `number ${number}`,
  });
  const last = () => Math.floor(scheduler.now / postMs);

  const feed: EndlessFeed = {
    pages: 0,
    ...{ timeOf, visibleAt },
    source: {
      page: ({ before, limit }, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const abort = () => {
            undo();
            reject(signal.reason);
          };
          signal.addEventListener('abort', abort, { once: true });
          const undo = scheduler.at(scheduler.now + 80, () => {
            signal.removeEventListener('abort', abort);
            if (!alive()) return;
            feed.pages++;
            if (isActive('pages') || isActive('outage'))
              return reject(new Failure('service', 'fault', { code: 'INTERNAL_ERROR', status: 500 }));
            if (isActive('quota')) return reject(quota());
            const oldest = Math.max(0, Math.floor((scheduler.now - retentionMs) / postMs));
            const found: Record<string, unknown>[] = [];
            let number = before === undefined ? last() : numberOf(before) - 1;
            for (; number >= oldest && found.length < limit; number--)
              if (visibleAt(number) <= scheduler.now) found.push(recordOf(number));
            const lowest = found.at(-1);
            const nextBefore = lowest && number >= oldest ? String(lowest['id']) : null;
            const rows = tailRows(found, 'platformCreatedAt');
            resolve({ ...rows, hasMore: nextBefore !== null, nextBefore });
          });
        }),
      sizes: { step: 20, max: 100 },
      stepCu: 200,
    },
    async connect(onChange) {
      if (isActive('outage'))
        throw new Failure('network', 'fault', { code: 'ECONNREFUSED', retryable: true });
      if (isActive('quota')) throw quota();
      if (sockets.open > 0) {
        throw new Failure('rate', 'too many sockets', {
          ...{ code: 'RATE_LIMITED', status: 429, retryable: true, retryAfter: 20 },
        });
      }
      sockets.open++;
      let isFree = false;
      const free = (ms: number) => {
        if (!isFree) scheduler.at(scheduler.now + ms, () => sockets.open--);
        isFree = true;
      };
      let deaf = false;
      const frames: Uint8Array[] = [];
      let end: LinkEnd | undefined;
      let signs = 0;
      let seenTo = scheduler.now;
      const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
      const pump = () => {
        if (!alive() || end || deaf) return free(end ? 0 : NOTICED_MS);
        deaf = isActive('silent');
        if (isActive('close') || isActive('outage')) end = { why: 'reset', text: 'closed by the service' };
        if (isActive('quota')) end = { why: 'quota', text: '1008' };
        for (
          let number = Math.max(0, last() - Math.ceil(LATEST_MS / postMs) - 1);
          number <= last();
          number++
        ) {
          const at = visibleAt(number);
          if (at <= seenTo || at > scheduler.now || deaf || isActive('mute')) continue;
          if (isActive('lose') && chanceOf(seed + 2, number) < 0.5) continue;
          const frame = bytesOf({ type: 'thesis', data: recordOf(number) });
          frames.push(frame);
          if (isActive('double')) frames.push(frame);
        }
        seenTo = scheduler.now;
        if (frames.length > 0 || end) onChange();
        scheduler.at(scheduler.now + postMs, pump);
      };
      const ping = () => {
        if (!alive() || end || deaf) return;
        signs++;
        scheduler.at(scheduler.now + PING_MS, ping);
      };
      pump();
      ping();
      const link: Link = {
        next: () => frames.shift(),
        get held() {
          return frames.reduce((sum, { byteLength }) => sum + byteLength, 0);
        },
        get signs() {
          return signs;
        },
        get end() {
          return end;
        },
        send() {
          frames.push(bytesOf({ type: 'subscription', subscription: { type: 'all' } }));
          onChange();
        },
        close() {
          end ??= { why: 'closed', text: '' };
          free(deaf ? NOTICED_MS : 0);
          return Promise.resolve(!deaf);
        },
      };
      return link;
    },
  };
  return feed;
}

const quota = () => new Failure('quota', 'no units left', { code: 'QUOTA_EXCEEDED', status: 402 });
