import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printedFields } from '../../src/base/failure.ts';
import { parseJson } from '../../src/base/json.ts';
import { type EndpointId, endpointIds } from '../../src/contract/endpoints.ts';
import type { RequestParts } from '../../src/contract/ports/client.ts';
import type { HttpAnswer } from '../../src/contract/ports/transport.ts';
import { decode, encode } from '../../src/core/client/coding.ts';
import { pageIn, withCursor } from '../../src/core/client/raw-request.ts';
import { readServiceError } from '../../src/core/client/service-errors.ts';
import { failureJson } from '../../src/output/error-text.ts';
import { jsonLine } from '../../src/output/format/ndjson.ts';
import { codePoints } from '../code-points.ts';
import * as valid from '../e2e/records.ts';
import { anyMe } from '../e2e/service.ts';
import { damaged, holds, jsonOf, jsonText, read, torn } from './fuzz.ts';

const NOW = 1_700_000_000_000;
const text = fc.oneof(codePoints(8), fc.constant('mira'));
const theses = valid.page([valid.thesis(1), valid.thesis(2)]);
const records = fc.constantFrom<unknown>(
  { ...theses, tokenAddress: 'a', tokenNetwork: null, symbol: 'x', userId: valid.USER_ID },
  ...[theses, valid.page([valid.callout(1)]), valid.board(), valid.batch()],
  ...[valid.user, valid.numbers('mira'), valid.launchpadUser, anyMe, valid.pending],
);
const wrapped = records.map((data) => ({
  data,
  meta: { asOf: '2026-01-01T00:00:00Z', requestId: 'req-1' },
}));

const waits = fc.constantFrom<unknown>(
  ...[0, 3, '7', 1e300, -1, 'Infinity', '1e400', '1e308', 'NaN', ' '],
  ...['Thu, 01 Jan 1970 00:00:00 GMT', '99999999999', 'soon', null, {}],
);
const refusal = fc
  .tuple(
    fc.oneof(fc.constantFrom('RATE_LIMITED', 'NOT_OBSERVED', 'TIMEOUT', 'toString'), text),
    jsonOf(),
    waits,
    waits,
  )
  .map(([code, message, beside, inside]) => ({
    error: { code, message, retryAfter: inside },
    retryAfter: beside,
  }));

const status = fc.oneof(
  fc.constantFrom(200, 202, 204, 301, 400, 401, 402, 403, 404, 409, 429, 500, 502, 503, 504, 599),
  fc.integer({ min: 100, max: 999 }),
);
const headers = fc.dictionary(
  fc.constantFrom(
    ...['content-type', 'content-encoding', 'retry-after', 'x-request-id', 'date', 'server'],
  ),
  fc.oneof(torn(fc.constant('application/json')), waits.map(String)),
);
const answer: fc.Arbitrary<HttpAnswer> = fc.record({
  status,
  headers,
  text: jsonText(
    fc.oneof(records, wrapped, refusal, jsonOf('error', 'code', 'data', 'meta', 'items')),
  ),
});

const asks: { readonly [Id in EndpointId]: RequestParts<Id> } = {
  'user.handle': { params: { handle: 'mira' } },
  'user.wallet': { params: { address: 'a' } },
  'user.id': { params: { id: '00000000-0000-4000-8000-000000000001' } },
  'user.resolve': { params: { handle: 'mira' } },
  'user.pnl': { params: { handle: 'mira' } },
  'users.pnl': { body: { handles: ['mira', 'tom'] } },
  'thesis.all': { query: { limit: 50 } },
  'thesis.token': { params: { tokenAddress: 'a' } },
  'thesis.user': { params: { id: '00000000-0000-4000-8000-000000000001' } },
  'thesis.userToken': { params: { id: '00000000-0000-4000-8000-000000000001', tokenAddress: 'a' } },
  'launchpad.user': { params: { wallet: 'a' } },
  'launchpad.callouts': {},
  'launchpad.callouts.coin': { params: { mint: 'a' } },
  'launchpad.callouts.wallet': { params: { wallet: 'a' } },
  'launchpad.board': {},
  me: {},
};

/** Leaves out the time that each row takes over from the envelope. */
const withoutStamp =
  (meta: { readonly asOf?: unknown } | undefined) => (key: string, value: unknown) =>
    key === 'asOf' && value === meta?.asOf ? undefined : value;

describe.each(endpointIds)('an answer of %s', (id) => {
  const call = { ...encode(id, asks[id]), id };

  test('is read or rejected, and its charge is a number', () => {
    holds(answer, (given) => {
      const reading = decode(call, given, NOW);
      if (reading.charge) expect(reading.charge.cu).toBeGreaterThanOrEqual(0);
      if (!reading.ok) {
        expect(reading.failure.code).not.toBe('');
        expect(() => JSON.parse(failureJson(printedFields(reading.failure), 9))).not.toThrow();
        return;
      }
      // The body is delivered completely: bare, or from its envelope.
      const sent = parseJson(given.text) as { readonly data?: unknown };
      const record = JSON.parse(jsonLine(reading.value.record), withoutStamp(reading.value.meta));
      const bodies = [sent, sent.data].map((body) =>
        JSON.parse(jsonLine(body ?? null), withoutStamp(reading.value.meta)),
      );
      expect(bodies).toContainEqual(record);
    });
  });
});

describe('an error', () => {
  test('has a valid wait or none', () => {
    holds(jsonText(refusal), headers, status, (body, given, code) => {
      const { failure } = readServiceError(
        { status: code, headers: given, text: body },
        parseJson(body),
        NOW,
      );
      expect(Number.isFinite(failure.retryAfter ?? 0)).toBe(true);
      expect(failure.retryAfter ?? 0).toBeGreaterThanOrEqual(0);
    });
  });

  test('has a code of one word with bounded length', () => {
    holds(damaged(refusal), (body) => {
      const { failure } = readServiceError({ status: 500, headers: {}, text: '' }, body, NOW);
      expect(failure.code.length).toBeLessThanOrEqual(100);
      expect(failure.message.length).toBeLessThan(2_000);
    });
  });
});

describe('a raw page', () => {
  test('leads to a valid path or to nothing', () => {
    const led = fc
      .constantFrom('a b', '\ud800', '&before=1', '%', '')
      .map((nextBefore) => ({ hasMore: true, nextBefore }));
    holds(
      jsonText(fc.oneof(records, wrapped, led)),
      torn(fc.constant('/v2/thesis?limit=5&before=x#y')),
      (body, path) => {
        const cursor = pageIn({ text: body })?.nextBefore ?? undefined;
        if (cursor === undefined) return;
        const next = read(() => withCursor(path, cursor));
        if (next === undefined) return;
        expect(next.match(/[?&]before=/g)?.length).toBeGreaterThanOrEqual(1);
        const said = next.slice(next.lastIndexOf('before=') + 7);
        expect(decodeURIComponent(said)).toBe(cursor);
      },
    );
  });
});
