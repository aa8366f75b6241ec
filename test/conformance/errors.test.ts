import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorCodes } from '../../src/contract/errors.ts';
import { ask, askWith, closeLater, sandbox, statusAndCode } from './help.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

describe('errors', () => {
  it.each(codes)(
    '%s has its status and the documented body, and costs nothing unless it is a miss',
    async (code) => {
      const service = await sandbox({ faults: code });
      const { status, body } = await ask(service, '/v2/thesis');
      expect(status).toBe(errorCodes[code].status);
      expect(body).toEqual({
        error: { code, message: expect.any(String) },
        ...(code === 'RATE_LIMITED' ? { retryAfter: 1 } : {}),
      });
      expect(service.meter().totalUnits > 0).toBe(code === 'NOT_OBSERVED');
    },
  );

  it('are 404 NOT_FOUND for unknown paths and methods', async () => {
    const service = await sandbox();
    expect(await statusAndCode(service, '/v2/nothing')).toBe('404 NOT_FOUND');
    expect(await statusAndCode(service, '/v1/thesis')).toBe('404 NOT_FOUND');
    expect(await statusAndCode(service, '/v2/thesis', { method: 'POST' })).toBe('404 NOT_FOUND');
    expect(await statusAndCode(service, '/v2/user/handle/mira/resolve')).toBe('404 NOT_FOUND');
    expect(await statusAndCode(service, '/v2/thesis', { method: 'DELETE' })).toBe('404 NOT_FOUND');
  });

  it('are 400 BAD_REQUEST for invalid percent-encoding and for large bodies', async () => {
    const service = await sandbox();
    expect(await statusAndCode(service, '/v2/user/handle/%E0%A4%A')).toBe('400 BAD_REQUEST');
    const body = JSON.stringify({ handles: ['a'.repeat(1_100_000)] });
    expect(await statusAndCode(service, '/v2/user/handles/pnl', { body })).toBe('400 BAD_REQUEST');
  });

  it.each([
    ['/v2/thesis?limit=1000', undefined, 'limit must be at most 100.'],
    ['/v2/thesis?limit=many', undefined, 'limit must be a number.'],
    [
      '/v2/launchpad/leaderboard/traders?period=yearly',
      undefined,
      'period must be one of daily, weekly, monthly.',
    ],
    ['/v2/user/handles/pnl', { handles: 'mira' }, 'handles must be an array.'],
    ['/v2/user/handles/pnl', { handles: ['mira', ''] }, 'handles[1] must have at least 1 character.'],
    ['/v2/user/handles/pnl', 7, 'The body must be an object.'],
  ])('describe what is wrong with %s %j', async (path, body, message) => {
    const reply = await ask(await sandbox(), path, body === undefined ? {} : { body });
    expect(reply.body.error).toEqual({ code: 'VALIDATION_ERROR', message });
  });

  it('ignores an upgrade to another protocol', async () => {
    const service = await sandbox();
    const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
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
    const { body } = await askWith(service, '/v2/user/handles/pnl', offer, JSON.stringify({ handles }));
    expect(body.missing).toEqual(handles);
  });

  it('ignores unknown query parameters', async () => {
    expect(await statusAndCode(await sandbox(), '/v2/thesis?limit=1&colour=red')).toBe('200');
  });
});
