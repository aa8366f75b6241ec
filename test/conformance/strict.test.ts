import { describe, expect, it } from 'vitest';
import {
  type AskOptions,
  ask,
  first,
  type Listener,
  listen,
  NOON,
  oneSandbox,
  sandbox,
  statusAndCode,
} from './help.ts';

// What the description does not promise is refused or left out: a client that relies on it fails here first.

type Service = Awaited<ReturnType<typeof sandbox>>;

const shared = oneSandbox();
const INVALID = '400 VALIDATION_ERROR';
const theses = '/v2/thesis';
const board = '/v2/launchpad/leaderboard/traders';
const mira = '/v2/user/handle/mira';
const EVM = '0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4';

/** Calls that are served, and the same ones in forms that are not promised. */
const refused: Readonly<Record<string, readonly string[]>> = {
  [`${theses}?limit=20`]: [
    ...['colour=red', 'Limit=20', 'limit=20&limit=20', 'limit=020', 'limit=%2B20', 'limit=20.0'],
    ...['limit=2e1', 'limit=%2020'],
  ].map((query) => `${theses}?${query}`),
  [`${board}?at=${NOON}`]: [
    ...['2026-05', '2026-05-15', '2026-05-15T11:00', '2026-05-15T11:00:00', ''],
    ...[`${NOON}.5`, '-1'],
  ].map((at) => `${board}?at=${at}`),
  [`${board}?period=daily`]: [`${board}?period=Daily`, `${board}?limit=20`],
  '/v2/me': ['/v2/me?verbose=1'],
  [mira]: [`@${'a'.repeat(64)}`, '@@mira', 'a%2Fb', 'a%3Bb', 'ａｂｃ', '%F0%9F%9A%80', 'a%27b'].map(
    (handle) => `/v2/user/handle/${handle}`,
  ),
  [`/v2/user/wallet/${EVM}`]: [`/v2/user/wallet/0X${EVM.slice(2)}`],
};
const inOtherForms = Object.entries(refused).flatMap(([promised, others]) =>
  others.map((other) => [other, promised] as const),
);

const body = { handles: ['mira'] };
const withType = (type: string) => ({ body, headers: { 'content-type': type } });

describe('a call in a form that is not promised', () => {
  it.each(inOtherForms)('is refused, free of charge: %s, but not %s', async (other, promised) => {
    const service = await shared();
    expect(await statusAndCode(service, promised)).toBe('200');
    const before = service.meter().totalUnits;
    expect(await statusAndCode(service, other)).toBe(INVALID);
    expect(service.meter().totalUnits).toBe(before);
  });

  it.each<[answer: string, options: AskOptions, path?: string]>([
    [INVALID, { body: { ...body, windows: ['7d'] } }],
    [INVALID, { body: ['mira'] }],
    [INVALID, { body: { Handles: ['mira'] } }],
    ['400 BAD_REQUEST', withType('text/plain')],
    ['400 BAD_REQUEST', withType('application/x-www-form-urlencoded')],
    ['400 BAD_REQUEST', { body: {} }, `${mira}/resolve`],
  ])('is refused, free of charge, with %s: %j', async (answer, options, path) => {
    const service = await shared();
    const before = service.meter().totalUnits;
    expect(await statusAndCode(service, path ?? '/v2/user/handles/pnl', options)).toBe(answer);
    expect(service.meter().totalUnits).toBe(before);
  });

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
  const upper = (text: string) => text.toUpperCase();
  const upperDigits = (text: string) => `0x${upper(text.slice(2))}`;
  const anId = ({ world }: Service) => world.user('mira')?.id ?? '';
  const aWallet = ({ world }: Service) =>
    first(
      world.handles().flatMap((name) => {
        const wallet = world.user(name)?.solanaAddress ?? '';
        return world.account(wallet) ? wallet : [];
      }),
    );
  it.each<[what: string, path: string, of: (service: Service) => string]>([
    ['a user id as it was shown', '/v2/user/id', anId],
    ['an author by the id as shown', `${theses}/user`, anId],
    ['a launchpad account by the wallet as shown', '/v2/launchpad/user/wallet', aWallet],
  ])('%s', async (_, path, textOf) => {
    const service = await shared();
    const text = textOf(service);
    expect(await found(service, `${path}/${text}`)).toBe(true);
    expect(await found(service, `${path}/${upper(text)}`)).toBe(false);
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
