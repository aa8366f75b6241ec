import SwaggerParser from '@apidevtools/swagger-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { openapi } from '../../src/contract/openapi.ts';
import { known } from '../../src/contract/read-record.ts';
import { PnlWindow } from '../../src/contract/records/pnl.ts';
import { ThesisPage } from '../../src/contract/records/thesis.ts';
import { Pending } from '../../src/contract/records/user.ts';
import { type AnyJson, ask, handlesWhere, sandbox } from '../conformance/help.ts';
import { some } from '../repeats.ts';

const document = (): AnyJson => JSON.parse(JSON.stringify(openapi()));

describe('the OpenAPI document', () => {
  it.each(some(['wrapped', 'bare'] as const, 1))('is valid with %s responses', async (envelope) => {
    const made = JSON.parse(JSON.stringify(openapi(envelope, 'http://127.0.0.1:1')));
    const validated = await SwaggerParser.validate(made);
    expect(validated).toMatchObject({ openapi: '3.1.0', info: { version: '1.1.0' } });
  });

  it('lists the documented responses and errors of each endpoint', () => {
    const { paths } = document();
    const statuses = (path: string, method = 'get') => Object.keys(paths[path][method].responses);
    expect(statuses('/v2/me')).toEqual(['200', '401', '429', '503']);
    expect(statuses('/v2/user/handle/{handle}/resolve', 'post')).toEqual(
      expect.arrayContaining(['200', '202', '402', '404', '409', '429']),
    );
    expect(paths['/v2/thesis'].get.responses['402']['x-codes']).toEqual(['QUOTA_EXCEEDED']);
  });

  it('states the ranges of the service description, which no answer is checked against', () => {
    const { schemas } = document().components;
    expect(schemas.Pending.properties.reason.enum).toEqual([
      'queued',
      'timeout',
      'unavailable',
      'rate_limited',
      'no_preview',
      'not_ingested',
    ]);
    expect(schemas.ThesisPage.properties.count).toMatchObject({ minimum: 0, maximum: 20 });
    expect(schemas.CalloutPage.properties.count).toMatchObject({ minimum: 0, maximum: 25 });
    expect(schemas.PnlWindow.properties.rank).toMatchObject({ minimum: 1 });
    expect(schemas.Board.properties.entries.items.properties.rank).toMatchObject({ minimum: 1 });
    expect(schemas.Me.required).toContain('ratePerMinute');
    expect(schemas.Me.properties.usage.properties.period.pattern).toBe('^\\d{4}-(0[1-9]|1[0-2])$');
    expect(JSON.stringify(schemas.ClientFrame)).toContain('"maxItems":50');
    expect(JSON.stringify(document())).not.toMatch(/9007199254740991/);
    const differences: unknown[] = [];
    const report = (difference: unknown) => differences.push(difference);
    known(Pending, { pending: true, reason: 'asleep', retryable: true }, report);
    known(
      ThesisPage,
      { count: 100, hasMore: false, nextBefore: null, updatedAt: null, items: [] },
      report,
    );
    known(PnlWindow, { netUsd: 0, returnPct: null, volumeUsd: 0, trades: 0, rank: 0 }, report);
    expect(differences).toEqual([]);
  });

  it('is served by the running service and describes its responses', async () => {
    const service = await sandbox();
    const served = (await ask(service, '/openapi.json')).body;
    expect(served.paths).toEqual(document().paths);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', ...served });
    const wallet = service.world.user(
      handlesWhere(service, (user) => user.solanaAddress !== null)[0] ?? '',
    );
    for (const [template, path, body] of [
      ['/v2/user/handle/{handle}', `/v2/user/handle/${wallet?.handle}`],
      ['/v2/user/handle/{handle}/pnl', `/v2/user/handle/${wallet?.handle}/pnl`],
      [
        '/v2/user/handles/pnl',
        '/v2/user/handles/pnl',
        { handles: service.world.handles().slice(0, 40) },
      ],
      ['/v2/thesis', '/v2/thesis?limit=20'],
      ['/v2/thesis/user/{id}', `/v2/thesis/user/${wallet?.id}`],
      ['/v2/launchpad/thesis', '/v2/launchpad/thesis'],
      ['/v2/launchpad/leaderboard/traders', '/v2/launchpad/leaderboard/traders'],
      ['/v2/me', '/v2/me'],
    ] as const) {
      const method = body ? 'post' : 'get';
      const pointer = [
        'paths',
        template,
        method,
        ...'responses 200 content application/json schema'.split(' '),
      ];
      const escaped = pointer.map((part) =>
        encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
      );
      const check = ajv.compile({ $ref: `doc#/${escaped.join('/')}` });
      const { body: answer } = await ask(service, path, body ? { body } : {});
      expect([template, check(answer), check.errors]).toEqual([template, true, null]);
    }
  });
});
