import { request } from 'node:http';
import { afterAll, expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { generateRecords } from '../../src/sandbox/world/generate.ts';
import type { ResolvePlan } from '../../src/sandbox/world/source.ts';
import { createWorld, type World } from '../../src/sandbox/world/world.ts';
import { manualClock } from '../sandbox/clock.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/service.ts';

/** The middle of a month, so that a test does not run into the next month. */
export const NOON = Date.UTC(2026, 4, 15, 12);
export const MINUTE = 60_000;

/** Calls `close` after the test. */
export const closeLater = (close: () => unknown) =>
  onTestFinished(async () => {
    await close();
  });

/** A sandbox with a manual clock. */
export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = options.clock ?? manualClock(options.now ?? NOON);
  const service = await startSandbox({ traders: 60, theses: 600, ...options, clock });
  closeLater(() => service.close());
  return service;
}

/** One sandbox for the tests of a file that leave it as it is, because each start takes longer than a call. */
export function oneSandbox(): () => Promise<Sandbox> {
  let service: Promise<Sandbox> | undefined;
  afterAll(async () => (await service)?.close());
  return () => {
    const clock = manualClock(NOON);
    service ??= startSandbox({ traders: 60, theses: 600, ratePerMinute: 10_000, clock });
    return service;
  };
}

/** A small world in which the test decides the outcome of live resolves. */
export function worldWith(plan: ResolvePlan): World {
  const world = createWorld(generateRecords(1, NOON, { traders: 60, theses: 600 }), 1);
  return Object.assign(world, { resolvePlan: () => plan });
}

// biome-ignore lint/suspicious/noExplicitAny: tests inspect responses of every shape, valid and invalid.
export type AnyJson = any;

const JSON_TYPE = { 'content-type': 'application/json' };

export interface Reply {
  readonly status: number;
  readonly body: AnyJson;
  readonly headers: Headers;
}

export interface AskOptions {
  readonly key?: string | null;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Calls a path, by default with the sandbox's key. */
export async function ask(
  service: Sandbox,
  path: string,
  options: AskOptions = {},
): Promise<Reply> {
  const { key = service.key, body, headers } = options;
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(key === null ? {} : bearer(key)),
      ...(body === undefined ? {} : JSON_TYPE),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? null : JSON.parse(text),
    headers: response.headers,
  };
}

/** Sends a request with headers that `fetch` does not allow. */
export function askWith(
  service: Sandbox,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Pick<Reply, 'status' | 'body'>> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const call = request(service.url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : JSON_TYPE) },
    });
    call.on('error', reject);
    call.on('response', async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      // A gateway answers with HTML.
      const body = text.startsWith('<') ? text : JSON.parse(text);
      resolve({ status: response.statusCode ?? 0, body });
    });
    call.end(body);
  });
}

/** The status and the error code of a call. */
export async function statusAndCode(service: Sandbox, path: string, options: AskOptions = {}) {
  const { status, body } = await ask(service, path, options);
  return body?.error ? `${status} ${body.error.code}` : `${status}`;
}

/** Checks the status and the error code of calls, one after another. */
export async function expectAnswers(
  service: Sandbox,
  calls: readonly (readonly [path: string, answer: string, options?: AskOptions])[],
): Promise<void> {
  for (const [path, answer, options] of calls)
    expect([path, await statusAndCode(service, path, options)]).toEqual([path, answer]);
}

/** The units and reveals that `act` costs a key. */
export async function costOf(service: Sandbox, act: () => Promise<unknown>, key = service.key) {
  const before = service.meter(key);
  await act();
  const after = service.meter(key);
  return {
    cu: after.totalUnits - before.totalUnits,
    reveals: after.totalReveals - before.totalReveals,
  };
}

/** Runs the event loop until a condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

type User = NonNullable<ReturnType<World['user']>>;

/** The handles of users that match a condition. */
export const handlesWhere = ({ world }: Pick<Sandbox, 'world'>, is: (user: User) => boolean) =>
  world.handles().filter((handle) => {
    const user = world.user(handle);
    return user !== undefined && is(user);
  });

export const holdsWallet = (user: User) => user.solanaAddress !== null || user.evmAddress !== null;

/** The first item, which must exist. */
export function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error('The list is empty.');
  return one;
}

/** A user with a wallet. */
export const walletHolder = (service: Pick<Sandbox, 'world'>) =>
  first(handlesWhere(service, holdsWallet));
/** A user without a wallet. */
export const walletless = (service: Pick<Sandbox, 'world'>) =>
  first(handlesWhere(service, (user) => !holdsWallet(user)));

/** A client of the live feed: frames in the order of arrival. */
export interface Listener {
  readonly ws: WebSocket;
  next(): Promise<AnyJson>;
  send(frame: unknown): void;
  /** Subscribes to tokens, or to everything; resolves to the response. */
  subscribe(...tokens: string[]): Promise<AnyJson>;
  /** Returns the frames that arrive before the response to one more subscribe frame. */
  drain(): Promise<AnyJson[]>;
  readonly closed: Promise<number>;
}

/** Opens the live feed and reads its `ready` frame. */
export async function listen(
  service: Sandbox,
  key = service.key,
  autoPong = true,
): Promise<Listener> {
  const socket = await connect(service, key, autoPong);
  await socket.next();
  return socket;
}

/** Opens the live feed without reading a frame. */
export async function connect(
  service: Sandbox,
  key = service.key,
  autoPong = true,
): Promise<Listener> {
  const ws = new WebSocket(`${service.url.replace('http', 'ws')}/v2/ws`, {
    headers: { authorization: `Bearer ${key}` },
    autoPong,
  });
  closeLater(() => ws.terminate());
  const frames: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  ws.on('error', () => {});
  ws.on('message', (data) => {
    const text = data.toString();
    const taker = waiting.shift();
    if (taker) taker(text);
    else frames.push(text);
  });
  const closed = new Promise<number>((resolve) => ws.once('close', (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    ws.once('open', () => resolve());
    ws.once('error', reject);
  });
  const nextText = () =>
    new Promise<string>((resolve) => {
      const text = frames.shift();
      if (text === undefined) waiting.push(resolve);
      else resolve(text);
    });
  const next = async () => {
    const text = await nextText();
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  const send = (frame: unknown) =>
    ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return {
    ws,
    next,
    send,
    closed,
    async subscribe(...tokens) {
      const subscription = tokens.length === 0 ? { type: 'all' } : { type: 'tokens', tokens };
      send({ type: 'subscribe', subscription });
      return next();
    },
    async drain() {
      send('end of drain');
      const came: AnyJson[] = [];
      for (let frame = await next(); frame.type !== 'error'; frame = await next()) came.push(frame);
      return came;
    },
  };
}

/** The response to a rejected handshake. */
export const rejectedHandshake = (
  service: Sandbox,
  headers: Record<string, string>,
  path = '/v2/ws',
) => {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
  const version = { 'sec-websocket-version': '13', 'sec-websocket-key': btoa('0123456789abcdef') };
  return askWith(service, path, { ...upgrade, ...version, ...headers });
};

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
