import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { numbers, WALLET } from '../e2e/records.ts';
import { anyMe, type Call, handlesIn, userRecord, withService } from '../e2e/service.ts';

/** What may happen to a paid call. */
const fates = [
  'reset', // the connection breaks before the call is processed
  'lost', // the connection breaks after the call was charged
  'late', // the connection breaks, and the call is charged minutes later
  'cut', // the response ends in the middle
  'portal', // a captive portal answers 200 with HTML
  'gateway', // a gateway responds with a 5xx page, and the call is charged
  'refused', // a documented error that is not charged
  'foreign', // something in between answers with any status, in place of the service or of its answer
  'odd404', // a 404 in an unknown format, which is charged
  'shape', // a success that cannot be recognized, which is charged in full
] as const;
export type CallOutcome = 'serve' | (typeof fates)[number];

export interface HostileOptions {
  readonly random: () => number;
  /** The time of the service. */
  readonly now: () => number;
  /** The share of calls that are processed as described. */
  readonly honest: number;
  /** How late the usage counter is updated. */
  readonly lagMs: number;
  /** Whether the usage counter shows zero, as at the start of a month. */
  readonly reset: boolean;
  /** The time from the charge of a call to its response; default: 0. */
  readonly delayMs?: () => number;
  /** The month of the usage counter; default: `2026-01`. */
  readonly period?: string;
  /** Called when a paid call arrives, before it is processed. */
  readonly onCall?: () => Promise<void>;
  /** Outcomes that do not occur. */
  readonly without?: readonly CallOutcome[];
}

const foreignStatuses = [
  301, 302, 304, 400, 401, 402, 403, 404, 405, 407, 409, 410, 413, 421, 429, 499, 501, 505,
];
/** Statuses with which a call costs nothing, even if a proxy sends them. */
const unbilled = [401, 403, 429];
const LATEST_MS = 5 * 60_000;

/** A subject with a complete answer. */
export interface Delivered {
  readonly endpoint: 'lookup' | 'resolve' | 'numbers';
  readonly subject: string;
  readonly found: boolean;
}

/**
 * A service that breaks connections, charges late and reports wrong usage. Its price list shares no code with
 * the program.
 */
export async function hostileService(options: HostileOptions) {
  const { random, now, honest, lagMs, reset, delayMs, period = '2026-01' } = options;
  const possible = fates.filter((fate) => options.without?.includes(fate) !== true);
  const charges: { readonly at: number; readonly cu: number }[] = [
    { at: Number.NEGATIVE_INFINITY, cu: 700 },
  ];
  const delivered: Delivered[] = [];
  const charged: Delivered[] = [];
  const counted = (until: number) =>
    charges.filter(({ at }) => at <= until).reduce((sum, { cu }) => sum + cu, 0);
  const charge = (cu: number, delayMs = 0) => void charges.push({ at: now() + delayMs, cu });
  const isKnown = (name: string) => !name.includes('nobody');
  let share = honest;

  const service = await withService(
    async (call) => {
      const path = decodeURIComponent(call.path.split('?')[0] ?? '');
      if (path === '/v2/me') return { body: account(reset ? 0 : counted(now() - lagMs), period) };
      const served = await answerOf(call, path);
      if (!served)
        return { status: 404, body: { error: { code: 'NOT_FOUND', message: 'no such route' } } };
      const { status, body, cu, subjects, endpoint } = served;
      await options.onCall?.();
      const fate =
        random() < share ? 'serve' : (possible[Math.floor(random() * possible.length)] ?? 'serve');
      switch (fate) {
        case 'serve':
          charge(cu);
          charged.push(
            ...subjects.map((subject) => ({ endpoint, subject, found: isKnown(subject) })),
          );
          if (delayMs) await delay(delayMs());
          call.response.on('finish', () => {
            for (const subject of subjects)
              delivered.push({ endpoint, subject, found: isKnown(subject) });
          });
          return random() < 0.2 ? compressed(status, body) : { status, body };
        case 'lost':
          charge(cu);
          return broken(call.response);
        case 'late':
          charge(cu, random() * LATEST_MS);
          return broken(call.response);
        case 'reset':
          return broken(call.response);
        case 'cut':
          charge(cu);
          call.response.writeHead(status, {
            'content-type': 'application/json',
            'content-length': 5_000,
          });
          call.response.write(JSON.stringify(body).slice(0, 20), () => call.response.destroy());
          return undefined;
        case 'portal':
          return page(200, 'log in');
        case 'gateway':
          charge(cu);
          return page([502, 503, 504][Math.floor(random() * 3)] ?? 502, 'bad gateway');
        case 'refused': {
          const refusals = [
            [500, 'INTERNAL_ERROR'],
            [503, 'OVERLOADED'],
            [429, 'RATE_LIMITED'],
          ] as const;
          const [code, name] = refusals[Math.floor(random() * refusals.length)] ?? refusals[0];
          return { status: code, body: { error: { code: name, message: name }, retryAfter: 1 } };
        }
        case 'foreign': {
          const code = foreignStatuses[Math.floor(random() * foreignStatuses.length)] ?? 400;
          // Before a 404, the service can only have charged for a subject that is not found.
          if (!unbilled.includes(code) && random() < 0.5) charge(code === 404 ? 200 : cu);
          const texts = ['<html>blocked</html>', '', '{"message":"no"}', '{"error":"forbidden"}'];
          return {
            status: code,
            body: Buffer.from(texts[Math.floor(random() * texts.length)] ?? ''),
            headers: code < 303 ? { location: '/login' } : {},
          };
        }
        case 'odd404':
          if (endpoint === 'numbers' && call.method === 'POST') return { status: 404, body: {} };
          charge(200);
          return { status: 404, body: { message: 'not here' } };
        case 'shape':
          charge(cu);
          return { status: 200, body: { something: 'else' } };
      }
    },
    { ownMe: true },
  );

  async function answerOf({ method, request }: Call, path: string) {
    const [, handle = '', rest = ''] = /^\/v2\/user\/handle\/([^/]+)(\/\w+)?$/.exec(path) ?? [];
    const address = /^\/v2\/user\/wallet\/(.+)$/.exec(path)?.[1];
    if (path === '/v2/user/handles/pnl' && method === 'POST') {
      const asked = await handlesIn({ request });
      const found = asked.filter(isKnown);
      const missing = asked.filter((name) => !isKnown(name));
      const body = { count: found.length, missing, entries: found.map(numbers) };
      const cu = 30_000 * found.length + 200 * missing.length;
      return { endpoint: 'numbers', status: 200, body, cu, subjects: asked } as const;
    }
    const subject = address ?? handle;
    if (subject === '') return undefined;
    const endpoint = rest === '/resolve' ? 'resolve' : rest === '/pnl' ? 'numbers' : 'lookup';
    const dear = rest !== '' || address !== undefined;
    if (!isKnown(subject)) {
      const body = { error: { code: 'NOT_OBSERVED', message: 'no verified match' } };
      return { endpoint, status: 404, body, cu: 200, subjects: [subject] } as const;
    }
    // Handles that start with "bare" have a wallet only after a resolve.
    const bare = subject.startsWith('bare') && endpoint === 'lookup';
    const body = endpoint === 'numbers' ? numbers(subject) : userOf(subject, !bare);
    const subjects = bare ? [] : [subject];
    return { endpoint, status: 200, body, cu: dear ? 30_000 : 100, subjects } as const;
  }

  return {
    ...service,
    delivered,
    /** From now on, every call is processed as described. */
    heal() {
      share = 1;
    },
    /** The subjects of all charged calls. */
    charged,
    /** The total charge of the run, including late charges. */
    total: () => counted(Number.POSITIVE_INFINITY) - 700,
  };
}

const compressed = (status: number, body: unknown) => ({
  status,
  body: gzipSync(JSON.stringify(body)),
  headers: { 'content-encoding': 'gzip' },
});

/** A page of something in between. */
const page = (status: number, text: string) => ({ status, body: `<html>${text}</html>` });

/** Closes the connection without a response. */
function broken(response: ServerResponse): undefined {
  response.destroy();
  return undefined;
}

const userOf = (name: string, hasWallet: boolean) => ({
  ...userRecord(name),
  solanaAddress: hasWallet ? WALLET : null,
});

const account = (unitsUsed: number, period: string) => ({
  ratePerMinute: 100_000,
  usage: {
    ...anyMe.usage,
    period,
    unitsUsed,
    unitsRemaining: 1_000_000_000,
    revealsRemaining: null,
  },
  entitlement: { unmetered: false, monthlyUnits: 1_000_000_000 },
});
