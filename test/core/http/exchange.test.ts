import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { type Addressed, exchange } from '../../../src/core/http/exchange.ts';

const TIMEOUT = 1_000;
const LARGEST = 1_000;

/** A request whose response the test sends itself, with virtual time. */
function begin(given: Partial<Addressed> = {}) {
  const request: Addressed = {
    method: 'GET',
    url: 'http://h/',
    origin: 'http://h',
    path: '/',
    host: 'h',
    headers: {},
    timeoutMs: TIMEOUT,
    ...given,
  };
  const controller = { abort() {} } as unknown as Dispatcher.DispatchController;
  let handler: Dispatcher.DispatchHandler = {};
  const dispatcher = {
    dispatch(_: unknown, of: Dispatcher.DispatchHandler) {
      handler = of;
      return true;
    },
  };
  let ended: string | undefined;
  const outcome = exchange(dispatcher, request, LARGEST, undefined).then(
    (answer) => answer.text,
    (error: { readonly code: string }) => error.code,
  );
  void outcome.then((text) => {
    ended = text;
  });
  return {
    outcome,
    sent: () => handler.onRequestStart?.(controller, {}),
    start: (headers = {}) => handler.onResponseStart?.(controller, 200, headers, 'OK'),
    part: (body: string | Buffer) => handler.onResponseData?.(controller, Buffer.from(body)),
    end: () => handler.onResponseEnd?.(controller, {}),
    fail: () => handler.onResponseError?.(controller, new Error('other side closed')),
    /** How the request ended, after this time. */
    async wait(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      return ended;
    },
  };
}

describe('the timeout of a request', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('does not end a response that keeps arriving, which was paid for', async () => {
    const { sent, start, part, end, wait } = begin();
    sent();
    await wait(900);
    start();
    for (const text of ['{', '"id"', ':7']) {
      await wait(900);
      part(text);
    }
    part('}');
    end();
    expect(await wait(0)).toBe('{"id":7}');
  });

  it('ends a response that never ends after four times as long', async () => {
    const { sent, start, part, wait } = begin();
    sent();
    start();
    for (let at = 0; at < 7; at++) {
      expect(await wait(TIMEOUT / 2)).toBeUndefined();
      part(' ');
    }
    expect(await wait(TIMEOUT / 2)).toBe('NO_ANSWER');
  });

  it('ends a response that keeps arriving one timeout after a signal', async () => {
    const ending = new AbortController();
    const { sent, start, part, wait } = begin({ ending: ending.signal });
    sent();
    start();
    await wait(TIMEOUT / 2);
    ending.abort();
    part(' ');
    expect(await wait(TIMEOUT / 2)).toBeUndefined();
    part(' ');
    expect(await wait(TIMEOUT / 2)).toBe('NO_ANSWER');
  });
});

const text = '{"name":"é🌙"}';
const bytes = Buffer.from(text);

/** The text of a response with this body, or the code of its failure. */
async function received(body: string | Buffer, coding?: string, isCut = false) {
  const { sent, start, part, end, fail, outcome } = begin();
  sent();
  start(coding === undefined ? {} : { 'content-encoding': coding });
  part(body);
  (isCut ? fail : end)();
  return await outcome;
}

describe('the text of a body', () => {
  test.each([
    [undefined, bytes],
    ['identity', bytes],
    ['gzip', gzipSync(bytes)],
    ['x-gzip', gzipSync(bytes)],
    ['GZIP', gzipSync(bytes)],
    ['br', brotliCompressSync(bytes)],
    ['deflate', deflateSync(bytes)],
    ['deflate', deflateRawSync(bytes)],
    ['gzip, br', brotliCompressSync(gzipSync(bytes))],
  ])('is decoded: %s', async (coding, body) => {
    expect(await received(body, coding)).toBe(text);
  });

  test.each([
    ['of a proxy that decoded it but kept the header', 'gzip'],
    ['in an unknown coding', 'zstd'],
  ])('is unchanged %s', async (_, coding) => {
    expect(await received(bytes, coding)).toBe(text);
  });

  test('is rejected if it decodes to more than allowed', async () => {
    expect(await received(gzipSync(Buffer.alloc(100 * LARGEST)), 'gzip')).toBe('BAD_ANSWER');
  });

  test('has no byte order mark', async () => {
    expect(await received('\ufeff{}')).toBe('{}');
  });
});

test('a response that breaks off is used only if it is a complete object', async () => {
  const whole = ' {"a":[1,{"b":"}"}],"c":"\\"}"}';
  for (let end = 0; end < whole.length; end++)
    expect(await received(whole.slice(0, end), undefined, true)).toBe('BROKEN');
  expect(await received(`${whole}\n`, undefined, true)).toBe(`${whole}\n`);
  expect(await received('12', undefined, true)).toBe('BROKEN');
  expect(await received(gzipSync(text).subarray(0, -9), 'gzip', true)).toBe('BROKEN');
});
