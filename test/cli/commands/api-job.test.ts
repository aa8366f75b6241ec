import { describe, expect, test } from 'vitest';
import type { Failure } from '../../../src/base/failure.ts';
import { apiJob } from '../../../src/cli/commands/api-job.ts';
import { page, thesis } from '../../e2e/records.ts';
import { type Reply, withService } from '../../e2e/service.ts';
import { runJobOf } from '../job.ts';

/** Runs a raw call against a service. */
async function runApi(
  path: string,
  reply: (path: string) => Reply,
  { method = 'GET', body, flags = '' }: { method?: string; body?: string; flags?: string } = {},
) {
  const service = await withService((call) => reply(call.path));
  const line = `api ${path} ${flags}`.trim();
  const [paginate, include] = [flags.includes('--paginate'), flags.includes('--include')];
  const request = { method, path, body };
  const ran = await runJobOf(
    line,
    (context) => apiJob(context, request, { typed: path, paginate, include }),
    { sandbox: service },
  );
  return { ...ran, sent: service.calls };
}

/** The third page of three answers with `last`. */
const pages = (last: (items: readonly unknown[]) => Reply) => (path: string) => {
  const before = /before=t(\d+)/.exec(path)?.[1];
  const from = before === undefined ? 0 : Number(before) + 1;
  const items = [thesis(from), thesis(from + 1)];
  if (from === 4) return last(items);
  return { body: { ...page(items), hasMore: true, nextBefore: `t${from + 1}` } };
};

const never = (): Reply => {
  throw new Error('nothing may be sent');
};

describe('the plan of a raw call', () => {
  test('has the price of its endpoint, or none', async () => {
    const known = await runApi('/v2/thesis?limit=40', never, { flags: '--dry-run' });
    expect(known.calls).toMatchObject([{ name: 'thesis.all', times: 1 }]);
    expect(known.cost).toMatchObject({ least: 400, most: 400 });
    const free = await runApi('/v2/me', never, { flags: '--dry-run' });
    expect(free.cost).toMatchObject({ most: 0 });
    const odd = await runApi('/v2/other?x=1', never, {
      method: 'POST',
      body: '{}',
      flags: '--dry-run',
    });
    expect(odd.calls).toMatchObject([{ name: 'POST /v2/other', body: '{}' }]);
    expect(odd.cost.most).toBeNull();
    expect([known.sent, free.sent, odd.sent]).toEqual([[], [], []]);
  });

  test('has no number of pages if all are read', async () => {
    const all = await runApi('/v2/thesis', never, { flags: '--paginate --dry-run' });
    expect(all.calls).toMatchObject([{ times: null }]);
    expect(all.cost.most).toBeNull();
  });

  test('is not sent at an unknown price if nobody can agree to it', async () => {
    const ran = await runApi('/v2/other', never);
    expect(ran.failure).toMatchObject({ kind: 'confirm' });
    expect([ran.sent, ran.stdout]).toEqual([[], '']);
  });
});

describe('a raw call', () => {
  test('prints the body as it was sent', async () => {
    const body = '{"count": 1.0, "odd":1}';
    const ran = await runApi('/v2/thesis', () => ({
      body: Buffer.from(body),
      headers: { 'content-type': 'application/json' },
    }));
    expect([ran.exit, ran.stdout, ran.sent]).toEqual([0, body, ['GET /v2/thesis']]);
  });

  test('prints an error that the service answers, and fails with it', async () => {
    const body = { error: { code: 'BAD_REQUEST', message: 'no' } };
    const ran = await runApi('/v2/thesis', () => ({ status: 400, body }));
    expect(JSON.parse(ran.stdout)).toEqual(body);
    expect(ran.failure).toMatchObject({ kind: 'usage', code: 'BAD_REQUEST' });
  });

  test('is not sent if the output cannot be written', async () => {
    const ran = await runApi('/v2/thesis', never, { flags: '--out none/there.json' });
    expect(ran.failure).toMatchObject({ kind: 'usage' });
    expect(ran.sent).toEqual([]);
  });

  test('reads page after page, a body a line', async () => {
    const flags = '--paginate --max-cu 10k';
    const ran = await runApi(
      '/v2/thesis',
      pages((items) => ({ body: page(items) })),
      { flags },
    );
    expect(ran.sent).toEqual([
      'GET /v2/thesis',
      'GET /v2/thesis?before=t1',
      'GET /v2/thesis?before=t3',
    ]);
    expect(ran.records().map(({ items }) => (items as unknown[]).length)).toEqual([2, 2, 2]);
    expect(ran.exit).toBe(0);
  });

  test.each<[string, Reply, object, number]>([
    [
      'an error',
      { status: 403, body: { error: { code: 'FORBIDDEN', message: 'no' } } },
      { kind: 'forbidden' },
      3,
    ],
    ['no page', { body: { other: true } }, { code: 'BAD_ANSWER' }, 3],
  ])(
    'that gets %s on its third page prints all three, and says how to continue',
    async (_, reply, failure, lines) => {
      const flags = '--paginate --max-cu 10k --retries 0';
      const ran = await runApi(
        '/v2/thesis',
        pages(() => reply),
        { flags },
      );
      expect(ran.failure).toMatchObject(failure);
      expect((ran.failure as Failure).hint).toContain('/v2/thesis?before=t3');
      expect(ran.records()).toHaveLength(lines);
    },
  );
});
