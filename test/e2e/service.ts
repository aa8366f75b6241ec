import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { endpoints } from '../../src/contract/endpoints.ts';
import { serve } from '../core/server.ts';

/** A response of a fake service: a status, a body (text, or a value for JSON) and headers. */
export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Call {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The handles that a batch asks for. */
export const handlesIn = async ({ request }: Pick<Call, 'request'>): Promise<string[]> =>
  JSON.parse(Buffer.concat(await request.toArray()).toString()).handles;

export type FakeService = Awaited<ReturnType<typeof withService>>;

/** The record of a user without a profile and without wallets. */
export const userRecord = (handle: string) => ({
  // Two handles of one id would be a rename.
  id: `7d0a0f3e-7a55-4c0e-9a36-${Buffer.from(handle).toString('hex').padStart(12, '0').slice(-12)}`,
  handle,
  name: null,
  bio: null,
  banner: null,
  profilePicture: null,
  twitter: null,
  solanaAddress: null,
  evmAddress: null,
});

export const anyMe = {
  ratePerMinute: 6_000,
  plan: { id: 'growth', name: 'Growth' },
  scopes: ['identity:read'],
  entitlement: { unmetered: false, monthlyUnits: 20_000_000 },
  usage: {
    period: '2026-01',
    unitsUsed: 0,
    unitsRemaining: 20_000_000,
    additionalUnits: 0,
    revealsUsed: 0,
    revealsRemaining: 50_000,
  },
};

/**
 * A fake service for responses that the sandbox never sends. If `reply` returns undefined, the test responds itself,
 * or never. `me` gets the default record unless `ownMe` is set.
 */
export async function withService(
  reply: (call: Call) => Reply | undefined | Promise<Reply | undefined>,
  { ownMe = false } = {},
) {
  /** Every call except `me`, as `METHOD /path`. */
  const calls: string[] = [];
  const served = await serve(async (request, response) => {
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const isMe = path === endpoints.me.path;
    if (!isMe) calls.push(`${method} ${path}`);
    const answer =
      isMe && !ownMe ? { body: anyMe } : await reply({ method, path, request, response });
    if (answer === undefined) return;
    const { status = 200, body, headers = {} } = answer;
    response.writeHead(status, {
      // Node would write the date of the machine's clock.
      date: new Date().toUTCString(),
      'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
      ...headers,
    });
    response.end(
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    );
  });
  onTestFinished(() => served.close());
  return { url: served.url, key: 'trdr_test_0123456789abcdef0123456789abcdef', calls };
}
