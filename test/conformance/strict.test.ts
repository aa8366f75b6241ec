import { describe, expect, it } from 'vitest';
import {
  ask,
  first,
  handlesWhere,
  type Listener,
  listen,
  NOON,
  oneSandbox,
  sandbox,
  statusAndCode,
} from './help.ts';

// What the description does not promise is refused or left out: a client that relies on it fails here first.

type Service = Awaited<ReturnType<typeof sandbox>>;
type Options = Parameters<typeof ask>[2];
/** A call that is served, and the same one in a form that is not promised. */
type Case = [
  what: string,
  promised: string,
  other: string,
  answer: string,
  more?: { readonly promised?: Options; readonly other?: Options },
];

const shared = oneSandbox();
const INVALID = '400 VALIDATION_ERROR';
const theses = '/v2/thesis';
const board = '/v2/launchpad/leaderboard/traders';
const batch = '/v2/user/handles/pnl';
const mira = '/v2/user/handle/mira';
const post = { method: 'POST' };
const EVM = '0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4';
const withType = (type: string) => ({ headers: { 'content-type': type } });

const parameters: readonly Case[] = [
  ['an unknown parameter', theses, `${theses}?colour=red`, INVALID],
  ['a parameter of another call', board, `${board}?limit=20`, INVALID],
  ['a parameter where none is', '/v2/me', '/v2/me?verbose=1', INVALID],
  ['a parameter twice', `${theses}?limit=20`, `${theses}?limit=20&limit=20`, INVALID],
  ['a parameter in another case', `${theses}?limit=20`, `${theses}?Limit=20`, INVALID],
  ...['020', '%2B20', '20.0', '2e1', '%2020'].map(
    (limit): Case => [
      `the limit ${limit}`,
      `${theses}?limit=20`,
      `${theses}?limit=${limit}`,
      INVALID,
    ],
  ),
  ...['2026-05', '2026-05-15', '2026-05-15T11:00', '2026-05-15T11:00:00', ''].map(
    (at): Case => [`the time "${at}"`, `${board}?at=${NOON}`, `${board}?at=${at}`, INVALID],
  ),
  ['a time in seconds with a fraction', `${board}?at=${NOON}`, `${board}?at=${NOON}.5`, INVALID],
  ['a negative time', `${board}?at=${NOON}`, `${board}?at=-1`, INVALID],
  ['a period in another case', `${board}?period=daily`, `${board}?period=Daily`, INVALID],
];

const subjects: readonly Case[] = [
  ['a handle of 65 characters with its @', mira, `/v2/user/handle/@${'a'.repeat(64)}`, INVALID],
  ['a handle with a second @', mira, '/v2/user/handle/@@mira', INVALID],
  ...['a%2Fb', 'a%3Bb', 'ａｂｃ', '%F0%9F%9A%80', 'a%27b'].map(
    (handle): Case => [`the handle ${handle}`, mira, `/v2/user/handle/${handle}`, INVALID],
  ),
  [
    '0X before an EVM address',
    `/v2/user/wallet/${EVM}`,
    `/v2/user/wallet/0X${EVM.slice(2)}`,
    INVALID,
  ],
];

const paths: readonly Case[] = [
  ['a slash at the end', '/v2/me', '/v2/me/', '404 NOT_FOUND'],
  ['two slashes', '/v2/me', '/v2//me', '404 NOT_FOUND'],
  ['a path in another case', '/v2/me', '/v2/Me', '404 NOT_FOUND'],
];

const bodies: readonly Case[] = [
  ...[{ handles: ['mira'], windows: ['7d'] }, ['mira'], { Handles: ['mira'] }].map(
    (body): Case => [
      `the body ${JSON.stringify(body)}`,
      batch,
      batch,
      INVALID,
      { promised: { body: { handles: ['mira'] } }, other: { body } },
    ],
  ),
  ...['text/plain', 'application/x-www-form-urlencoded'].map(
    (type): Case => [
      `a body of the type ${type}`,
      batch,
      batch,
      '400 BAD_REQUEST',
      {
        promised: { body: { handles: ['mira'] } },
        other: { body: { handles: ['mira'] }, ...withType(type) },
      },
    ],
  ),
  [
    'a body of a resolve',
    `${mira}/resolve`,
    `${mira}/resolve`,
    '400 BAD_REQUEST',
    { promised: post, other: { ...post, body: {} } },
  ],
];

describe('a call in a form that is not promised', () => {
  it.each([...parameters, ...subjects, ...paths, ...bodies])(
    'is refused, free of charge: %s',
    async (_, promised, other, answer, more = {}) => {
      const service = await shared();
      expect(await statusAndCode(service, promised, more.promised)).toBe('200');
      const before = service.meter().totalUnits;
      expect(await statusAndCode(service, other, more.other)).toBe(answer);
      expect(service.meter().totalUnits).toBe(before);
    },
  );

  it.each([
    ['another case of the scheme', (key: string) => ({ authorization: `bearer ${key}` })],
    ['two blanks', (key: string) => ({ authorization: `Bearer  ${key}` })],
    ['no scheme', (key: string) => ({ authorization: key })],
    ['another scheme', (key: string) => ({ authorization: `Basic ${btoa(`${key}:`)}` })],
    ['a scheme in the other header', (key: string) => ({ 'x-api-key': `Bearer ${key}` })],
  ])('is refused as without a key: %s', async (_, headersOf) => {
    const service = await shared();
    const headers = headersOf(service.key);
    expect(await statusAndCode(service, '/v2/me', { key: null, headers })).toBe('401 UNAUTHORIZED');
  });
});

describe('a subject is found only as it is promised to be', () => {
  const found = async (service: Service, path: string) => {
    const { status, body } = await ask(service, path);
    return status === 200 && body.count !== 0;
  };
  const anId = ({ world }: Service) => world.user('mira')?.id ?? '';
  const aSolana = (service: Service) =>
    first(
      handlesWhere(
        service,
        (user) => service.world.account(user.solanaAddress ?? '') !== undefined,
      ),
    );
  const upper = (text: string) => text.toUpperCase();
  const upperDigits = (text: string) => `0x${text.slice(2).toUpperCase()}`;
  it.each<[what: string, path: (service: Service) => string, other: (path: string) => string]>([
    ['a user id as it was shown', (service) => `/v2/user/id/${anId(service)}`, lastPart(upper)],
    [
      'an author by the id as shown',
      (service) => `${theses}/user/${anId(service)}`,
      lastPart(upper),
    ],
    [
      'a launchpad account by the wallet as shown',
      (service) =>
        `/v2/launchpad/user/wallet/${service.world.user(aSolana(service))?.solanaAddress}`,
      lastPart(upper),
    ],
  ])('%s', async (_, pathOf, change) => {
    const service = await shared();
    const path = pathOf(service);
    expect([await found(service, path), await found(service, change(path))]).toEqual([true, false]);
  });

  it('the author and the token of a page are those of the path', async () => {
    const service = await shared();
    const id = upper(anId(service));
    const { body } = await ask(service, `${theses}/user/${id}/token/0xABC`);
    expect([body.userId, body.tokenAddress, body.count]).toEqual([id, '0xabc', 0]);
  });

  it('a token with the prefix 0X is not an EVM address, and keeps its case', async () => {
    const { body } = await ask(await shared(), `${theses}/token/0XABC`);
    expect(body.tokenAddress).toBe('0XABC');
  });

  it('a coin or wallet of the launchpad is matched by its exact text', async () => {
    const service = await sandbox();
    const other = { coinMint: EVM.toLowerCase(), wallet: EVM.toLowerCase() };
    const callout = service.postCallout();
    if (callout) service.world.callouts().change(callout.id, (held) => ({ ...held, ...other }));
    for (const kind of ['token', 'wallet'])
      for (const [text, count] of [
        [EVM.toLowerCase(), 1],
        [upperDigits(EVM), 0],
      ] as const) {
        const { body } = await ask(service, `/v2/launchpad/thesis/${kind}/${text}`);
        expect([kind, text, body.count]).toEqual([kind, text, count]);
      }
  });
});

/** Changes the last part of a path. */
function lastPart(change: (text: string) => string) {
  return (path: string) => path.replace(/[^/]+$/, change);
}

describe('an answer', () => {
  it.each(['bare', 'wrapped'] as const)('has the promised headers alone: %s', async (envelope) => {
    const service = await sandbox({ envelope });
    const usual = ['connection', 'content-length', 'content-type', 'date', 'keep-alive'];
    for (const path of [mira, '/v2/user/handle/nobody_at_all', '/v2/me', '/openapi.json']) {
      const { headers } = await ask(service, path);
      expect([path, [...headers.keys()].sort()]).toEqual([path, usual]);
    }
  });
});

describe('the socket', () => {
  const talk = async (socket: Listener, frame: unknown) => {
    socket.send(frame);
    return socket.next();
  };
  const subscribe = (subscription: unknown) => ({ type: 'subscribe', subscription });
  const all = { type: 'all' };

  it.each<[what: string, frame: unknown]>([
    ['another member', { ...subscribe(all), id: 1 }],
    ['another member of the subscription', subscribe({ ...all, since: 0 })],
    ['tokens beside all', subscribe({ ...all, tokens: ['x'] })],
    ['no tokens', subscribe({ type: 'tokens', tokens: [] })],
    ['an empty token', subscribe({ type: 'tokens', tokens: [''] })],
    ['a token of 129 characters', subscribe({ type: 'tokens', tokens: ['x'.repeat(129)] })],
    ['a token that is not a text', subscribe({ type: 'tokens', tokens: [1] })],
    ['one token as a text', subscribe({ type: 'tokens', tokens: 'x' })],
    ['51 times the same token', subscribe({ type: 'tokens', tokens: Array(51).fill('x') })],
    ['a subscription as a text', subscribe('all')],
    ['a type in another case', { ...subscribe(all), type: 'Subscribe' }],
    ['unsubscribe with a subscription', { type: 'unsubscribe', subscription: all }],
    ['a list of frames', [subscribe(all)]],
    ['another type', { type: 'ping' }],
    ['no JSON', 'subscribe please'],
    ['no subscription', { type: 'subscribe' }],
    ['another subscription', subscribe({ type: 'users' })],
  ])('answers error, and stays subscribed as before, to a frame with %s', async (_, frame) => {
    const socket = await listen(await shared());
    await socket.subscribe('x');
    expect(await talk(socket, frame)).toEqual({ type: 'error', error: expect.any(String) });
    expect(await talk(socket, subscribe(all))).toEqual({
      type: 'replaced',
      previous: { type: 'tokens', tokens: ['x'] },
    });
  });

  it('answers error to a binary frame', async () => {
    const socket = await listen(await shared());
    socket.ws.send(Buffer.from(JSON.stringify(subscribe(all))));
    expect((await socket.next()).type).toBe('error');
  });
});
