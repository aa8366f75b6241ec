import { Failure } from '../../src/base/failure.ts';
import type { AnswerCache, CachedAnswer } from '../../src/contract/ports/answers.ts';
import type { Client, Notice } from '../../src/contract/ports/client.ts';
import type { Ledger, LedgerEntry } from '../../src/contract/ports/ledger.ts';
import type { RateWindows } from '../../src/contract/ports/rate-windows.ts';
import type { HttpAnswer, HttpRequest, Transport } from '../../src/contract/ports/transport.ts';
import { createClient } from '../../src/core/client/client.ts';
import { createInFlight } from '../../src/core/client/in-flight.ts';
import type { ClientOptions } from '../../src/core/client/sender.ts';
import { ServiceKey } from '../../src/core/client/service-key.ts';
import type { Lookup } from '../../src/core/lookup/lookup.ts';
import { FileWindows } from '../../src/state/rate-windows.ts';
import { anyMe, userRecord } from '../e2e/service.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

export const KEY = 'tk_live_0123456789abcdefWXYZ';
export const BASE = 'http://127.0.0.1:1';

/** The reply of a simulated service to one request: an answer, or an error to throw. */
export type Reply = (
  request: HttpRequest,
  signal: AbortSignal | undefined,
) => HttpAnswer | Promise<HttpAnswer>;

/** A transport that calls a function for each request, and reports the request as sent. */
const fakeTransport = (reply: Reply, sent: HttpRequest[] = []): Transport => ({
  async send(request, signal) {
    signal?.throwIfAborted();
    sent.push(request);
    request.onSent?.();
    return await reply(request, signal);
  },
  close: async () => {},
});

export const json = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  text: JSON.stringify(body),
});

export const error = (status: number, code: string, more: object = {}): HttpAnswer =>
  json(status, { error: { code, message: `${code} it is` }, ...more });

export const user = (more: object = {}) => {
  const solanaAddress = 'So11111111111111111111111111111111111111112';
  return { ...userRecord('Mert'), solanaAddress, ...more };
};

export const me = (ratePerMinute: number) => ({ ...anyMe, ratePerMinute });

export interface Rig {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly sent: HttpRequest[];
  readonly paths: () => string[];
  readonly ledger: LedgerEntry[];
  readonly notices: Notice[];
}

/** A ledger in memory; `entries` is always up to date, in the order in which the calls started. */
function ledgerInMemory(now: () => number): { ledger: Ledger; entries: LedgerEntry[] } {
  const byNumber = new Map<number, LedgerEntry>();
  const entries: LedgerEntry[] = [];
  let calls = 0;
  const put = (number: number, entry: LedgerEntry | undefined) => {
    if (entry) byNumber.set(number, entry);
    else byNumber.delete(number);
    entries.splice(0, entries.length, ...byNumber.values());
  };
  const ledger: Ledger = {
    async begin({ endpoint, most }) {
      const number = calls++;
      const bound = most === undefined ? { unpriced: true } : { cuAtMost: most };
      const call = { time: now(), command: 'test', profile: 'default', endpoint };
      put(number, { ...call, status: null, cu: 0, ...bound });
      return {
        settle: async (cost) => put(number, { ...call, ...cost }),
        lose: async ({ status = null, requestId } = {}) =>
          put(number, { ...call, status, cu: 0, ...bound, requestId }),
        release: async () => put(number, undefined),
      };
    },
  };
  return { ledger, entries };
}

/** Rate limits for a single process. */
export const ownWindows = (clock: Pick<VirtualClock, 'now'>): RateWindows =>
  new FileWindows({ dir: undefined, baseUrl: BASE, key: KEY, clock });

/** A client of a simulated service. It records all notices. */
export function rig(reply: Reply, options: Partial<ClientOptions> & { maxCu?: number } = {}): Rig {
  const clock = virtualClock();
  const sent: HttpRequest[] = [];
  const recorded = ledgerInMemory(clock.now);
  const notices: Notice[] = [];
  const client = createClient({
    transport: fakeTransport(reply, sent),
    baseUrl: BASE,
    key: new ServiceKey(KEY),
    clock,
    random: () => 0.5,
    windows: ownWindows(clock),
    limit: { limit: options.maxCu },
    inFlight: createInFlight(),
    ledger: recorded.ledger,
    notify: (notice) => notices.push(notice),
    ...options,
  });
  return {
    client,
    clock,
    sent,
    ledger: recorded.entries,
    notices,
    paths: () => sent.map(({ url }) => url.slice(BASE.length)),
  };
}

/** A cache of answers in memory. */
export function memoryCache(): AnswerCache & { readonly entries: Map<string, CachedAnswer> } {
  const entries = new Map<string, CachedAnswer>();
  return {
    entries,
    get: (endpoint, subjects) => subjects.map((subject) => entries.get(`${endpoint} ${subject}`)),
    put: async (endpoint, answers) => {
      for (const [subject, answer] of answers) entries.set(`${endpoint} ${subject}`, answer);
    },
  };
}

export const collect = async <T>(items: AsyncIterable<T>) => {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
};

/** The records of lookups, and the failure that ended them. */
export async function gather(lookups: AsyncIterable<Lookup>) {
  const records: Lookup['record'][] = [];
  let failure: unknown;
  try {
    for await (const { record } of lookups) records.push(record);
  } catch (thrown) {
    failure = thrown;
  }
  return { records, failure: failure as Failure | undefined };
}

/** The failure of a promise that must be rejected with one. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const [end] = await Promise.allSettled([work]);
  if (end.status === 'rejected' && end.reason instanceof Failure) return end.reason;
  throw new Error('no Failure', { cause: end });
}
