import { Failure } from '../../../src/base/failure.ts';
import type { Connect, Link, LinkEnd, PageSource } from '../../../src/tail/ports.ts';
import { tailRows } from '../../../src/tail/row.ts';
import { EPOCH } from '../posts.ts';
import type { Scheduler } from '../scheduler.ts';

/** A stretch of trouble, in virtual milliseconds. */
export interface Trouble {
  readonly kind: 'pages' | 'lose' | 'double' | 'close';
  readonly from: number;
  readonly to: number;
}

/** A feed of one post a second for as long as anybody looks: posts are computed, not stored. */
export interface EndlessFeed {
  readonly source: PageSource;
  readonly connect: Connect;
  /** Posts in the order of the pages are numbered by their second. */
  visibleAt(number: number): number;
  pages: number;
}

const SECOND = 1_000;
/** A late post appears at most so much after its time; the margin of a tail is twice that. */
const LATEST = 60;
const PING_MS = 15_000;

/** A number in [0, 1) that belongs to another number. */
function chanceOf(seed: number, number: number): number {
  let mixed = Math.imul((number + 1) ^ Math.imul(seed, 0x9e3779b9), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

export const idOf = (number: number): string => `p${number}`;
export const numberOf = (id: string): number => Number(id.slice(1));

export function createEndlessFeed(
  seed: number,
  scheduler: Scheduler,
  troubles: readonly Trouble[],
  alive: () => boolean,
): EndlessFeed {
  const timeOf = (number: number) => number * SECOND + Math.floor(chanceOf(seed, number) * 900);
  const visibleAt = (number: number) => {
    const late = chanceOf(seed + 1, number);
    return timeOf(number) + (late < 0.02 ? Math.floor(late * 50 * (LATEST - 1) * SECOND) : 200);
  };
  const isActive = (kind: Trouble['kind']) =>
    troubles.some(({ kind: each, from, to }) => each === kind && from <= scheduler.now && scheduler.now < to);
  const recordOf = (number: number) => ({
    id: idOf(number),
    platformCreatedAt: EPOCH + timeOf(number),
    thesis: `number ${number}`,
  });
  const last = () => Math.floor(scheduler.now / SECOND);

  const feed: EndlessFeed = {
    pages: 0,
    visibleAt,
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
            if (isActive('pages'))
              return reject(new Failure('service', 'fault', { code: 'INTERNAL_ERROR', status: 500 }));
            const found: Record<string, unknown>[] = [];
            let number = before === undefined ? last() : numberOf(before) - 1;
            for (; number >= 0 && found.length < limit; number--)
              if (visibleAt(number) <= scheduler.now) found.push(recordOf(number));
            const oldest = found.at(-1);
            const nextBefore = oldest && number >= 0 ? String(oldest['id']) : null;
            const rows = tailRows(found, 'platformCreatedAt');
            resolve({ ...rows, hasMore: nextBefore !== null, nextBefore, cu: 200 * Math.ceil(limit / 20) });
          });
        }),
      price: (limit) => 200 * Math.ceil(limit / 20),
      sizes: { step: 20, max: 100 },
    },
    async connect(onChange) {
      const frames: Uint8Array[] = [];
      let end: LinkEnd | undefined;
      let signs = 0;
      let seenTo = scheduler.now;
      const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
      const pump = () => {
        if (!alive() || end) return;
        if (isActive('close')) end = { why: 'reset', text: 'closed by the service' };
        for (let number = Math.max(0, last() - LATEST - 1); number <= last(); number++) {
          const at = visibleAt(number);
          if (at <= seenTo || at > scheduler.now) continue;
          if (isActive('lose') && chanceOf(seed + 2, number) < 0.5) continue;
          const frame = bytesOf({ type: 'thesis', data: recordOf(number) });
          frames.push(frame);
          if (isActive('double')) frames.push(frame);
        }
        seenTo = scheduler.now;
        if (frames.length > 0 || end) onChange();
        scheduler.at(scheduler.now + SECOND, pump);
      };
      const ping = () => {
        if (!alive() || end) return;
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
          return Promise.resolve(true);
        },
      };
      return link;
    },
  };
  return feed;
}
