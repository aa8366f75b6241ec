import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '../../src/contract/errors.ts';
import {
  ask,
  askWith,
  bearer,
  closeLater,
  expectAnswers,
  oneSandbox,
  sandbox,
  statusAndCode,
} from './help.ts';

const shared = oneSandbox();
const codes = Object.keys(errorCodes) as ErrorCode[];

describe('errors', () => {
  it.each(codes)('%s has its status and body, and only a miss costs', async (code) => {
    const service = await shared();
    service.faults.set(code);
    const before = service.meter().totalUnits;
    const { status, body } = await ask(service, '/v2/thesis');
    service.faults.set('');
    expect(status).toBe(errorCodes[code].status);
    expect(body).toEqual({
      error: { code, message: expect.any(String) },
      ...(code === 'RATE_LIMITED' ? { retryAfter: 1 } : {}),
    });
    expect(service.meter().totalUnits > before).toBe(code === 'NOT_OBSERVED');
  });

  it('are 404 NOT_FOUND for unknown paths and methods', async () => {
    await expectAnswers(await shared(), [
      ['/v2/nothing', '404 NOT_FOUND'],
      ['/v1/thesis', '404 NOT_FOUND'],
      ['/v2/me/', '404 NOT_FOUND'],
      ['/v2//me', '404 NOT_FOUND'],
      ['/v2/Me', '404 NOT_FOUND'],
      ['/v2/ws', '404 NOT_FOUND'],
      ['/v2/thesis', '404 NOT_FOUND', { method: 'POST' }],
      ['/v2/user/handle/mira/resolve', '404 NOT_FOUND'],
      ['/v2/thesis', '404 NOT_FOUND', { method: 'DELETE' }],
    ]);
  });

  it('are 400 BAD_REQUEST for invalid percent-encoding, and for large and incomplete bodies', async () => {
    const service = await shared();
    expect(await statusAndCode(service, '/v2/user/handle/%E0%A4%A')).toBe('400 BAD_REQUEST');
    const body = JSON.stringify({ handles: ['a'.repeat(1_100_000)] });
    for (const sent of [body, '{"handles":["mira"'])
      expect(await statusAndCode(service, '/v2/user/handles/pnl', { body: sent })).toBe(
        '400 BAD_REQUEST',
      );
  });

  const pnl = '/v2/user/handles/pnl';
  it.each<[path: string, why: string, body?: unknown]>([
    ['/v2/user/handle/', 'an empty handle'],
    [`/v2/user/handle/${'a'.repeat(65)}`, 'a handle of 65 characters'],
    ['/v2/user/handle/%40', 'only an @'],
    ['/v2/user/handle/a%20b', 'a handle with a space'],
    ['/v2/user/handle/%20mira', 'a handle after a space'],
    ['/v2/user/id/42', 'an id that is not a UUID'],
    [`/v2/user/wallet/${'1'.repeat(129)}`, 'an address of 129 characters'],
    ['/v2/user/wallet/0x1234', 'a short EVM address'],
    ['/v2/user/wallet/52908400098527886E0F7030069857D2E4169EE7', 'an EVM address without 0x'],
    ['/v2/user/wallet/O0Il', 'not base58'],
    ['/v2/user/wallet/abc', 'base58 of fewer than 32 bytes'],
    ...['0', '101', '-1', '1.5', 'ten', ''].map(
      (limit) => [`/v2/thesis?limit=${limit}`, 'an invalid limit'] as [string, string],
    ),
    ['/v2/thesis/user/mira', 'an author id that is not a UUID'],
    ['/v2/thesis/user/mira/token/0xabc', 'an author id that is not a UUID'],
    [`/v2/launchpad/user/wallet/${'a'.repeat(129)}`, 'an address of 129 characters'],
    [`/v2/launchpad/thesis/token/${'a'.repeat(129)}`, 'an address of 129 characters'],
    [`/v2/launchpad/thesis/wallet/${'a'.repeat(129)}`, 'an address of 129 characters'],
    ['/v2/launchpad/user/wallet/', 'an empty address'],
    ...['?period=yearly', '?at=yesterday', '?at=2026-13-01'].map(
      (query) =>
        [`/v2/launchpad/leaderboard/traders${query}`, 'an invalid board'] as [string, string],
    ),
    [pnl, 'no handles', { handles: [] }],
    [pnl, '101 handles', { handles: Array.from({ length: 101 }, (_, at) => `h${at}`) }],
    [pnl, 'an empty handle', { handles: [''] }],
    [pnl, 'a handle of 65 characters', { handles: ['a'.repeat(65)] }],
    [pnl, 'no member', {}],
    ['/v2/thesis?limit=1000', 'limit must be at most 100.'],
    ['/v2/thesis?limit=many', 'limit must be a number.'],
    [
      '/v2/launchpad/leaderboard/traders?period=yearly',
      'period must be one of daily, weekly, monthly.',
    ],
    [pnl, 'handles must be an array.', { handles: 'mira' }],
    [pnl, 'handles[1] must have at least 1 character.', { handles: ['mira', ''] }],
    [pnl, 'The body must be an object.', 7],
  ])('are 400 VALIDATION_ERROR, free of charge, for %s (%s)', async (path, why, body) => {
    const service = await shared();
    const before = service.meter().totalUnits;
    const reply = await ask(service, path, body === undefined ? {} : { body });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    // The message of the service ends with a full stop.
    if (why.endsWith('.')) expect(reply.body.error.message).toBe(why);
    expect(service.meter().totalUnits).toBe(before);
  });

  it('ignores an upgrade to another protocol', async () => {
    const service = await sandbox();
    const offer = {
      ...bearer(service.key),
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABk',
    };
    const warnings: Error[] = [];
    const hear = (warning: Error) => warnings.push(warning);
    process.on('warning', hear);
    closeLater(() => process.off('warning', hear));
    // Send more than 10 calls: Node would print a warning if each call added a listener to the connection.
    for (let call = 0; call < 12; call++) {
      expect((await askWith(service, '/v2/me', offer)).body.ratePerMinute).toBe(600);
    }
    expect(warnings).toEqual([]);
    expect((await askWith(service, '/v2/ws', offer)).status).toBe(404);
    const handles = Array.from({ length: 100 }, (_, at) => `nobody_${at}_${'x'.repeat(50)}`);
    const { body } = await askWith(
      service,
      '/v2/user/handles/pnl',
      offer,
      JSON.stringify({ handles }),
    );
    expect(body.missing).toEqual(handles);
  });
});
