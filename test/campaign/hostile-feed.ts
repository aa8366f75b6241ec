import { createServer, type ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { type Rng, rngOf } from '../sim/rng.ts';

/** A post of this service. */
export interface HostilePost {
  readonly id: string;
  /** The time by which pages are sorted. */
  readonly at: number;
  readonly visibleAt: number;
  readonly record: Readonly<Record<string, unknown>>;
  readonly nameless: boolean;
  /** Whether the post existed before the feed started; only its frame may come late. */
  readonly old: boolean;
}

export interface HostileFeed {
  readonly url: string;
  readonly key: string;
  readonly posts: readonly HostilePost[];
  /** The ids of posts that existed before the first client started. */
  readonly before: ReadonlySet<string>;
  /** The probability of faults; 0 means no more faults. */
  faultRate: number;
  /** Whether something in between answers every request in place of the service. */
  blocked: boolean;
  post(): void;
  /** Answers everything with a status and an error code, or works again. */
  die(answer: readonly [status: number, code: string] | undefined): void;
  close(): Promise<void>;
}

const KEY = 'trdr_test_0123456789abcdef';
const times = (at: number, dice: Rng): unknown =>
  dice.pick<unknown>([
    ...[at, at, at, String(at), new Date(at).toISOString(), at + 0.5],
    ...[null, 'soon', 0, Math.floor(at / 1_000), 4e12, {}],
  ]);

/** An independent implementation of the feed that differs from its description and fails in every possible way. */
export async function startHostileFeed(seed: number): Promise<HostileFeed> {
  const dice = rngOf(seed);
  const odd = dice.pick([0, 0.05, 0.3]);
  const answer = dice.pick(['described', 'named', 'bare', 'wrapped', 'unknown', 'none'] as const);
  const greets = dice.chance(0.7);
  const posts: HostilePost[] = [];
  const before = new Set<string>();
  const sockets = new Set<WebSocket>();
  const subscribed = new Set<WebSocket>();
  let asked = false;
  const state: Pick<HostileFeed, 'faultRate' | 'blocked'> = { faultRate: 0, blocked: false };
  let dead: readonly [status: number, code: string] | undefined;
  const strikes = (p: number) => dice.chance(p * state.faultRate);

  const add = (at: number, visibleAt: number, old: boolean): HostilePost => {
    const id = `p${posts.length}-${dice.int(1e9).toString(36)}`;
    const nameless = dice.chance(odd / 4);
    const record = {
      ...(!nameless && { id }),
      thesis: `post ${id}`,
      authorHandle: 'somebody',
      likeCount: dice.chance(odd) ? 1.5 : 3,
      platformCreatedAt: dice.chance(odd) ? times(at, dice) : at,
      ...(dice.chance(odd) && { segments: 'none', extra: { deep: [1, 'x'] } }),
    };
    const post = { id, at, visibleAt, record, nameless, old };
    posts.push(post);
    posts.sort((a, b) => b.at - a.at);
    return post;
  };
  const start = Date.now();
  for (let i = 0; i < 80; i++) add(start - 1_000 - i * 400, 0, true);

  const frameOf = (post: HostilePost): string => {
    const data = { ...post.record, authorAvatarUrl: null, tokenImageUrl: null };
    if (!dice.chance(odd)) return JSON.stringify({ type: 'thesis', data });
    return JSON.stringify(
      dice.pick<unknown>([
        { data, type: 'thesis' },
        { data: { type: 'thesis', data } },
        { type: null, data },
        { type: 'thesis', data, more: { deep: [1] } },
      ]),
    );
  };
  const junk = () =>
    dice.pick<string>([
      ...['null', '[]', '{', '"x"', '{"type":"news"}', '{"type":"pong"}'],
      ...['{"type":"thesis"}', '{"type":"thesis","data":null}'],
    ]);

  const send = (post: HostilePost) => {
    for (const socket of subscribed) {
      if (strikes(0.1)) continue;
      const frame = frameOf(post);
      const push = () => {
        if (socket.readyState === WebSocket.OPEN)
          socket.send(dice.chance(odd) ? Buffer.from(frame) : frame);
      };
      if (strikes(0.1)) setTimeout(push, dice.int(400));
      else push();
      if (strikes(0.1)) setTimeout(push, dice.int(800));
      if (strikes(0.1)) socket.send(junk());
      const breaks = strikes(0.02);
      if (breaks && dice.chance(0.5)) socket.terminate();
      else if (breaks) socket.close(dice.pick([1000, 1001, 1011, 1013, 4000]));
    }
  };

  const page = (query: URLSearchParams): { status: number; body: unknown } => {
    const limit = Math.min(100, Number(query.get('limit') ?? 20));
    const shown = posts.filter(({ visibleAt }) => visibleAt <= Date.now());
    const cursor = query.get('before');
    let from = 0;
    if (cursor !== null) {
      from = shown.findIndex(({ id, nameless }) => id === cursor && !nameless) + 1;
      const error = { code: 'VALIDATION_ERROR', message: 'unknown cursor' };
      if (from === 0) return { status: 400, body: { error } };
    }
    if (strikes(0.05))
      return { status: 200, body: { count: 0, hasMore: true, nextBefore: null, items: [] } };
    const items = shown.slice(from, from + limit);
    const hasMore = from + limit < shown.length;
    const last = items.filter(({ nameless }) => !nameless).at(-1)?.id ?? null;
    const body: Record<string, unknown> = {
      ...{ count: items.length, hasMore, nextBefore: hasMore ? last : null, updatedAt: null },
      items: items.map(({ record }) => record),
    };
    // State that there are no older posts, although there are some.
    if (strikes(0.15)) Object.assign(body, { hasMore: false, nextBefore: null });
    if (strikes(0.05)) delete body['hasMore'];
    if (strikes(0.05)) delete body['nextBefore'];
    if (!asked) {
      asked = true;
      for (const post of shown) before.add(post.id);
    }
    return { status: 200, body };
  };

  const reply = (response: ServerResponse, status: number, text: string) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(text);
  };
  /** An answer of a proxy, a firewall or a login page: it has no code of the service. */
  const foreign = () => {
    const status = dice.pick([
      200, 302, 304, 400, 401, 402, 403, 404, 407, 410, 413, 421, 429, 499, 501, 505,
    ]);
    const texts = ['<html>blocked</html>', '', '{"message":"no"}', '{"error":"forbidden"}'];
    const text = status === 304 ? '' : dice.pick(texts);
    return { status, text, headers: status === 302 ? { location: '/login' } : undefined };
  };
  const block = (response: ServerResponse) => {
    const { status, text, headers } = foreign();
    response.writeHead(status, { 'content-type': 'text/html', server: 'wall', ...headers });
    response.end(text);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (state.blocked || strikes(0.1)) return block(response);
    if (dead)
      return reply(response, dead[0], JSON.stringify({ error: { code: dead[1], message: 'no' } }));
    if (url.pathname === '/v2/me') {
      const account = { ratePerMinute: 1e6, usage: { unitsRemaining: null } };
      return reply(response, 200, JSON.stringify(account));
    }
    if (url.pathname !== '/v2/thesis') return reply(response, 404, '{}');
    if (strikes(0.05))
      return reply(response, dice.pick([500, 502, 504]), dice.pick(['{}', 'oops', '<html>']));
    if (strikes(0.05))
      return reply(response, 429, '{"error":{"code":"RATE_LIMITED"},"retryAfter":1}');
    if (strikes(0.05)) return request.socket.destroy();
    // Never answers.
    if (strikes(0.02)) return;
    const { status, body } = page(url.searchParams);
    const text = JSON.stringify(dice.chance(0.5) ? body : { data: body, meta: { requestId: 'r' } });
    const send = () =>
      reply(response, status, strikes(0.05) ? text.slice(0, text.length / 2) : text);
    setTimeout(send, dice.int(30));
  });

  const upgrades = new WebSocketServer({ noServer: true, autoPong: true });
  server.on('upgrade', (request, socket, head) => {
    if (state.blocked || dead || strikes(0.2)) {
      const error = dead && { status: dead[0], text: JSON.stringify({ error: { code: dead[1] } }) };
      const { status, text } = error ?? foreign();
      const head = `HTTP/1.1 ${status} No\r\nconnection: close\r\ncontent-length: ${text.length}`;
      return socket.end(`${head}\r\n\r\n${text}`);
    }
    upgrades.handleUpgrade(request, socket, head, (client) => {
      sockets.add(client);
      client.on('error', () => {});
      client.on('close', () => {
        sockets.delete(client);
        subscribed.delete(client);
      });
      if (greets) client.send('{"type":"ready","connectionId":"c"}');
      client.on('message', () => {
        subscribed.add(client);
        const described = { type: 'subscription', subscription: { type: 'all' } };
        const answers = {
          described,
          named: { type: 'subscription', subscription: 'all' },
          bare: { type: 'subscription' },
          wrapped: { payload: described },
          unknown: { type: 'noted' },
          none: undefined,
        };
        const said = answers[answer];
        if (said) client.send(JSON.stringify(said));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');

  return Object.assign(state, {
    url: `http://127.0.0.1:${address.port}`,
    key: KEY,
    posts,
    before,
    post() {
      const now = Date.now();
      send(add(now, now + (dice.chance(0.1) ? dice.int(300) : 0), false));
      if (asked && dice.chance(0.05)) send(dice.pick(posts.filter(({ old }) => old)));
    },
    die(answer: typeof dead) {
      dead = answer;
      if (dead) for (const socket of sockets) socket.terminate();
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  } satisfies Omit<HostileFeed, keyof typeof state>);
}
