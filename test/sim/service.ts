import { Failure } from '../../src/base/failure.ts';
import { plainJson } from '../../src/base/json-object.ts';
import type { Remainder } from '../../src/contract/ports/client.ts';
import { postTimeOf } from '../../src/contract/read-record.ts';
import { readServiceError } from '../../src/core/client/service-errors.ts';
import { redirected } from '../../src/core/http/network-failures.ts';
import { pageRow } from '../../src/core/pages/post.ts';
import type { FeedPage, PageSource } from '../../src/core/pages/source.ts';
import type { Connect, KeyFacts, Link, LinkEnd } from '../../src/tail/ports.ts';
import { mayBeCharged } from './charged.ts';
import { EPOCH, type Post, postsOf } from './posts.ts';
import { type Rng, rngOf } from './rng.ts';
import type { Acknowledgement, Fault, Schedule } from './schedule.ts';
import type { Scheduler } from './scheduler.ts';

export type Service = ReturnType<typeof createService>;
/** The service as one process sees it. Nothing happens once the `alive` of the process returns false. */
export type Access = ReturnType<Service['access']>;
/** The pages of the service, and their price. */
export type Source = Access['source'];

const described = { type: 'subscription', subscription: { type: 'all' } };
/** The responses to a subscription. */
const answers: Readonly<Record<Acknowledgement, unknown>> = {
  described,
  named: { type: 'subscription', subscription: 'all' },
  bare: { type: 'subscription' },
  wrapped: { data: described },
  unknown: { type: 'noted', what: 'all' },
  none: undefined,
};

/** The interval of the service's pings, by which it also detects a dead client. */
const PING_MS = 30_000;
const MINUTE = 60_000;
const MINUTE_CU = 20_000;

/** Where in a list of posts, newest first, the visible ones of an instant lie: a month has many that are not. */
function spanOf(posts: readonly Post[]) {
  /** When the first of the posts up to each index becomes visible, and when the last one from it on goes. */
  const begins = posts.map(({ visibleAt }) => visibleAt);
  const ends = posts.map(({ goneAt }) => goneAt);
  for (let i = 1; i < posts.length; i++) begins[i] = Math.min(begins[i] ?? 0, begins[i - 1] ?? 0);
  for (let i = posts.length - 2; i >= 0; i--) ends[i] = Math.max(ends[i] ?? 0, ends[i + 1] ?? 0);
  return {
    first(then: number): number {
      let [low, high] = [0, posts.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((begins[middle] ?? 0) <= then) high = middle;
        else low = middle + 1;
      }
      return low;
    },
    hasMore: (i: number, then: number) => then < (ends[i] ?? Number.NEGATIVE_INFINITY),
  };
}

/** Simulates the service as specified, with the faults of a schedule. */
export function createService(schedule: Schedule, scheduler: Scheduler) {
  const rng = rngOf(schedule.seed, 1);
  const posts = postsOf(schedule, rngOf(schedule.seed, 2));
  const indexes = new Map(posts.map(({ id }, index) => [id, index]));
  const bySending = posts.toSorted((a, b) => a.sentAt - b.sentAt);
  const span = spanOf(posts);
  const callout = schedule.feed === 'callout';
  const now = () => scheduler.now;
  const active = (kind: Fault['kind']) =>
    schedule.faults.find((fault) => fault.kind === kind && fault.from <= now() && now() < fault.to);
  const strikes = (kind: Fault['kind']): boolean => {
    const fault = active(kind);
    return fault !== undefined && (!('p' in fault) || rng.chance(fault.p));
  };
  /** The posts whose frames a process has read, in this order. A new subscription may repeat them. */
  const delivered: Post[] = [];
  let used = 0;
  const remaining = () => (schedule.units === null ? null : Math.max(0, schedule.units - used));
  const rowsOf = (from: readonly Post[]) =>
    from.map(({ record }) => pageRow(record, callout ? 'createdAt' : 'platformCreatedAt'));
  const price = (limit: number) => (callout ? 10 : 200 * Math.ceil(limit / 20));

  /** Reads a page, possibly from a lagging replica. */
  const read = (before: string | undefined, limit: number, symbol?: string) => {
    const lag = strikes('stale') ? rng.next() * 12_000 : 0;
    // After the service has stood still, its replicas agree: a page that differs from the page before it by minutes would
    // be beyond what any rule can tell.
    const isBehind = schedule.faults.some(
      ({ kind, to }) => kind === 'still' && to <= now() && now() < to + 60_000,
    );
    const then = now() - (isBehind ? 0 : lag);
    const shown = (post: Post) => post.visibleAt <= then && then < post.goneAt;
    let i = span.first(then);
    if (before !== undefined) {
      i = indexes.get(before) ?? -1;
      if (strikes('evict')) i = -1;
      const cursor = posts[i];
      if (!cursor || !shown(cursor)) return undefined;
      i++;
    }
    const rows: Post[] = [];
    for (; span.hasMore(i, then) && rows.length <= limit; i++) {
      const post = posts[i];
      if (post && shown(post) && (symbol ?? post.symbol) === post.symbol) rows.push(post);
    }
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit, then };
  };

  return {
    posts,
    /** Gives the key new units. */
    topUp() {
      used = 0;
    },
    access(alive: () => boolean, touch: () => void) {
      /** The CU that the service charged, and those of all minutes of the WebSocket that had begun. */
      const meter = { pages: 0, socket: 0, begun: 0, lost: 0 };
      const access = {
        meter,
        /** The number of open calls and connections. */
        open: 0,
        /** The newest post of the first page, and the ids of all posts visible at that time. */
        first: undefined as
          | { readonly held: ReadonlySet<string>; readonly top: Post | undefined }
          | undefined,
        /** Whether the service has rejected a cursor. */
        hasRejected: false,
        /** The ids of posts whose frames the process received. */
        handed: new Set<string>(),
      };

      /** Responds after a delay, unless the caller aborts or was killed. */
      const answer = <T>(ms: number, signal: AbortSignal, make: () => T): Promise<T> =>
        new Promise((resolve, reject) => {
          touch();
          if (!alive()) return;
          if (signal.aborted) return reject(signal.reason);
          access.open++;
          const settle = () => {
            signal.removeEventListener('abort', abort);
            access.open--;
          };
          const abort = () => {
            undo();
            settle();
            reject(signal.reason);
          };
          const undo = scheduler.at(now() + ms, () => {
            settle();
            touch();
            if (!alive()) return;
            try {
              resolve(make());
            } catch (error) {
              reject(error);
            }
          });
          signal.addEventListener('abort', abort);
        });

      const page = (before: string | undefined, limit: number, symbol?: string): FeedPage => {
        if (strikes('busy')) throw limited(rng.chance(0.2) ? 40 : 1 + rng.int(5));
        if (strikes('fault')) throw broken(rng.pick([500, 503, 504]));
        if (strikes('break') && rng.chance(0.5)) throw network('UNREACHABLE');
        if (strikes('foreign')) {
          const failure = foreign(rng);
          // The service may have answered, and charged for it, before something else replaced its answer.
          if (!mayBeCharged(failure) || rng.chance(0.5)) throw failure;
          used += price(limit);
          meter.pages += price(limit);
          meter.lost += price(limit);
          throw failure;
        }
        if (strikes('quota') || (remaining() ?? 1e9) < price(limit)) throw quota();
        const rows = callout ? 25 : schedule.twenty ? Math.min(20, limit) : limit;
        const slice = read(before, rows, symbol);
        if (!slice) {
          access.hasRejected = true;
          throw errorOf(400, 'VALIDATION_ERROR');
        }
        used += price(limit);
        meter.pages += price(limit);
        if (strikes('cut')) {
          meter.lost += price(limit);
          throw new Failure('answer', 'Not JSON.', { code: 'BAD_ANSWER', retryable: true });
        }
        if (strikes('break')) {
          meter.lost += price(limit);
          throw network('BROKEN');
        }
        const last = slice.rows.at(-1)?.id ?? null;
        if (strikes('hollow'))
          return { rows: [], hasMore: true, nextBefore: rng.pick([last, null]) };
        access.first ??= {
          held: new Set(
            posts
              .filter((post) => post.visibleAt <= slice.then && slice.then < post.goneAt)
              .map(({ id }) => id),
          ),
          top: slice.rows.find(({ at, record }) => at !== null && isTimed(record)),
        };
        // Claims that there are no older posts.
        if (strikes('last')) return { rows: rowsOf(slice.rows), hasMore: false, nextBefore: null };
        const nextBefore = strikes('repeat') ? (before ?? last) : last;
        return {
          rows: rowsOf(slice.rows),
          hasMore: slice.hasMore,
          nextBefore: slice.hasMore ? nextBefore : null,
        };
      };

      const delay = () => (strikes('slow') ? rng.between(2_000, 20_000) : rng.between(20, 300));

      /** Opens a socket. */
      const attach = (onChange: () => void): Link => {
        let queue: Uint8Array[] = [];
        let bytes = 0;
        let signs = 0;
        let end: LinkEnd | undefined;
        let deafSince: number | undefined;
        let subscribed = false;
        let closedAt: number | undefined;
        const openedAt = now();
        const undo = new Set<() => void>();

        const stop = (lingering: number) => {
          if (closedAt !== undefined) return;
          closedAt = now() + lingering;
          const minutes = (closedAt - openedAt) / MINUTE;
          const begun = MINUTE_CU * Math.max(1, Math.ceil(minutes));
          const cu = schedule.billing === 'started' ? begun : MINUTE_CU * minutes;
          used += cu;
          meter.begun += begun;
          meter.socket += cu;
          access.open--;
          for (const back of undo) back();
          undo.clear();
        };
        const finish = (reason: LinkEnd, lingering: number) => {
          if (end) return;
          end = reason;
          stop(lingering);
          if (alive()) onChange();
        };
        const push = (frame: unknown) => {
          if (end || deafSince !== undefined) return;
          if (!alive()) return finish({ why: 'reset', text: '' }, 0);
          const raw = Buffer.from(JSON.stringify(frame));
          queue.push(raw);
          bytes += raw.length;
          signs++;
          if (bytes > 200_000) finish({ why: 'overflow', text: 'too much' }, 0);
          else onChange();
        };
        const later = (ms: number, act: () => void) => {
          const back = scheduler.at(now() + ms, () => {
            undo.delete(back);
            act();
          });
          undo.add(back);
        };
        const send = (post: Post) => {
          if (!subscribed || strikes('lose')) return;
          const data = { ...post.record, authorAvatarUrl: null, tokenImageUrl: null };
          const wait = strikes('reorder')
            ? rng.next() * 3_000
            : strikes('lag')
              ? rng.next() * 60_000
              : 0;
          const frame = { type: 'thesis', data };
          if (wait === 0) push(frame);
          else later(wait, () => push(frame));
          if (strikes('double')) later(rng.next() * 20_000, () => push(frame));
        };
        const sendFrom = (index: number) => {
          const post = bySending[index];
          if (!post) return;
          later(post.sentAt - now(), () => {
            send(post);
            sendFrom(index + 1);
          });
        };
        const ping = () => {
          if (deafSince !== undefined && now() - deafSince > PING_MS)
            return finish({ why: 'reset', text: '' }, 0);
          if (!alive()) return finish({ why: 'reset', text: '' }, 0);
          if (deafSince === undefined && schedule.pings) {
            signs++;
            onChange();
          }
          if ((remaining() ?? 1) <= 0) return finish({ why: 'quota', text: 'quota' }, 0);
          later(PING_MS, ping);
        };

        access.open++;
        later(PING_MS, ping);
        sendFrom(bySending.findIndex(({ sentAt }) => sentAt > now()));
        for (const fault of schedule.faults) {
          if (fault.from < now()) continue;
          const at = fault.from - now();
          if (fault.kind === 'close')
            later(at, () => finish({ why: 'closed', text: 'restart' }, 0));
          if (fault.kind === 'reset') later(at, () => finish({ why: 'reset', text: '' }, 0));
          if (fault.kind === 'forget') later(at, () => (subscribed = false));
          if (fault.kind === 'policy') later(at, () => finish({ why: 'quota', text: 'quota' }, 0));
          if (fault.kind === 'half' || fault.kind === 'sleep')
            later(at, () => (deafSince ??= now()));
        }
        later(rng.next() * 50, () => push({ type: 'ready', connectionId: 'c1' }));

        return {
          next() {
            const raw = queue.shift();
            if (!raw) return undefined;
            bytes -= raw.length;
            const { type, data } = JSON.parse(Buffer.from(raw).toString());
            if (type === 'thesis' && data.id !== undefined) {
              access.handed.add(data.id);
              const post = posts[indexes.get(data.id) ?? -1];
              if (post) delivered.push(post);
            }
            return raw;
          },
          get held() {
            return bytes;
          },
          get signs() {
            return signs;
          },
          get end() {
            return end;
          },
          send() {
            touch();
            // A subscription becomes active only when the service confirms it, which can take seconds.
            later(rng.chance(0.2) ? rng.next() * 4_000 : rng.next() * 200, () => {
              if (strikes('mute')) return;
              subscribed = true;
              const answer = answers[schedule.answer];
              if (answer !== undefined) push(answer);
              const { repeats = 0 } = schedule;
              if (repeats === 0) return;
              for (const post of delivered.slice(-repeats)) send(post);
            });
          },
          ping() {
            later(rng.next() * 200, () => {
              if (deafSince !== undefined || end) return;
              signs++;
              onChange();
            });
          },
          close() {
            if (!alive()) return Promise.resolve(false);
            end ??= { why: 'closed', text: '' };
            queue = deafSince === undefined ? queue : [];
            // The service charges a half-open connection until it notices that a ping was not answered.
            stop(deafSince === undefined ? 0 : Math.max(0, deafSince + 2 * PING_MS - now()));
            return Promise.resolve(deafSince === undefined);
          },
        };
      };

      const dial = (onChange: () => void): Link => {
        const fault = active('refuse');
        if (fault?.kind === 'refuse') throw refused(fault.status);
        if (strikes('foreign')) throw foreign(rng);
        if (strikes('quota') || (remaining() ?? 1) <= 0) throw quota();
        return attach(onChange);
      };

      /** The pages of all posts, or of those with a symbol. */
      const sourceOf = (
        symbol?: string,
      ): Pick<PageSource, 'page' | 'sizes'> & { price(limit: number): number } => ({
        page: ({ before, limit }, signal) =>
          answer(delay(), signal, () => page(before, limit, symbol)),
        price,
        sizes: callout ? { step: 25, max: 25 } : { step: 20, max: 100 },
      });
      const source = sourceOf();
      const connect: Connect = (onChange, signal) =>
        answer(rng.between(20, 500), signal, () => dial(onChange));
      const key =
        (left: Remainder) =>
        async (signal: AbortSignal): Promise<KeyFacts> => {
          const learn = left.request();
          const unitsRemaining = await answer(rng.between(20, 200), signal, remaining);
          learn({ me: { usage: { unitsRemaining } } });
          return { live: true, ratePerMinute: 600 };
        };
      return Object.assign(access, { source, sourceOf, connect, key });
    },
  };
}

/** Whether the post time of a record is usable. If it is, it equals the sort key of the post. */
const isTimed = ({ platformCreatedAt, createdAt }: Post['record']): boolean => {
  const at = postTimeOf(platformCreatedAt ?? createdAt);
  return at !== null && at > EPOCH - 1e10 && at < EPOCH + 1e10;
};

/** Whether `a` is newer than `b` in the order of the pages. */
export const above = (a: Post, b: Post): boolean =>
  a.sortAt > b.sortAt || (a.sortAt === b.sortAt && a.order > b.order);

/** An error of the service, as the program reads it. */
const errorOf = (status: number, code: string, retryAfter?: number): Failure => {
  const error = { error: { code, message: 'No.' }, retryAfter };
  return readServiceError({ status, headers: {}, text: JSON.stringify(error) }, error, EPOCH)
    .failure;
};
const limited = (seconds: number) => errorOf(429, 'RATE_LIMITED', seconds);
const broken = (status: number) => errorOf(status, 'INTERNAL_ERROR');
const quota = () => errorOf(402, 'QUOTA_EXCEEDED');
const network = (code: string) =>
  new Failure('network', 'The connection broke.', { code, retryable: true });

/** An answer without an error code of the service, as the program reads it. */
function foreign(rng: Rng): Failure {
  const status = rng.pick([302, 304, 400, 401, 402, 403, 404, 407, 410, 429, 499, 501, 502, 505]);
  const text = rng.pick(['', '<html>', '{"message":"no"}', '{"error":"forbidden"}']);
  if (status === 302) return redirected('localhost', status, '/login');
  return readServiceError({ status, headers: {}, text }, plainJson(text), EPOCH).failure;
}

const refusals: Readonly<Record<number, string>> = {
  ...{ 401: 'UNAUTHORIZED', 402: 'QUOTA_EXCEEDED', 403: 'FORBIDDEN_SCOPE', 404: 'NOT_FOUND' },
};
const refused = (status: number): Failure =>
  status === 429 ? limited(20) : errorOf(status, refusals[status] ?? 'INTERNAL_ERROR');
