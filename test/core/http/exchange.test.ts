import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Addressed, exchange } from '../../../src/core/http/exchange.ts';

const TIMEOUT = 1_000;

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
  exchange(dispatcher, request, 1_000_000, undefined).then(
    ({ text }) => {
      ended = text;
    },
    (error: { readonly code: string }) => {
      ended = error.code;
    },
  );
  return {
    sent: () => handler.onRequestStart?.(controller, {}),
    start: () => handler.onResponseStart?.(controller, 200, {}, 'OK'),
    part: (text: string) => handler.onResponseData?.(controller, Buffer.from(text)),
    end: () => handler.onResponseEnd?.(controller, {}),
    /** How the request ended, after this time. */
    async wait(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      return ended;
    },
  };
}

describe('the timeout of a request', () => {
  beforeEach(() => void vi.useFakeTimers());
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
