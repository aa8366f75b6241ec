import { describe, expect, it } from 'vitest';
import {
  type Thesis,
  type ThesisFrameData,
  ThesisPage,
  TokenThesisPage,
  UserThesisPage,
} from '../../src/contract/records/thesis.ts';
import { ask, first, NOON, sandbox, statusAndCode } from './help.ts';

type Service = Awaited<ReturnType<typeof sandbox>>;
const common = ['count', 'hasMore', 'items', 'nextBefore', 'updatedAt'];
const ids = (items: readonly Thesis[]) => items.map(({ id }) => id);

/** Every row of a feed, read with `nextBefore`. */
async function walk(service: Service, path: string, limit: number) {
  const rows: Thesis[] = [];
  const join = path.includes('?') ? '&' : '?';
  for (let before = ''; ; ) {
    const { body } = await ask(
      service,
      `${path}${join}limit=${limit}${before && `&before=${before}`}`,
    );
    rows.push(...body.items);
    expect(body.nextBefore).toBe(body.hasMore ? body.items.at(-1).id : null);
    if (!body.hasMore) return rows;
    before = body.nextBefore;
  }
}

const postAt = (
  id: string,
  platformCreatedAt: number | null,
  more: Partial<ThesisFrameData> = {},
) => ({
  id,
  authorHandle: 'mira',
  thesis: `Post ${id}`,
  platformCreatedAt,
  tokenAddress: '0xAbCdEf0000000000000000000000000000000001'.toLowerCase(),
  tokenNetwork: 'base',
  tokenSymbol: 'TIE',
  ...more,
});

describe('the thesis feed', () => {
  it('returns 20 rows by default, newest first', async () => {
    const service = await sandbox();
    const { status, body } = await ask(service, '/v2/thesis');
    expect([status, body.count, body.items.length, body.hasMore]).toEqual([200, 20, 20, true]);
    expect(Object.keys(body).sort()).toEqual(common);
    expect(() => ThesisPage.parse(body)).not.toThrow();
    const times = body.items
      .map((item: Thesis) => item.platformCreatedAt)
      .filter((time: unknown) => time !== null);
    expect(times).toEqual([...times].sort((one, other) => other - one));
    expect(body.updatedAt).toBe(times[0]);
    for (const item of body.items) {
      expect(item).toHaveProperty('authorHandle');
      expect(item).toHaveProperty('thesis');
      expect(item).toHaveProperty('platformCreatedAt');
      expect(item).not.toHaveProperty('authorAvatarUrl');
    }
  });

  it('returns each row once up to the end, with any page size, also if several have the same millisecond', async () => {
    const service = await sandbox({ ratePerMinute: 10_000, theses: 60 });
    for (let number = 0; number < 50; number++) service.post(postAt(`tie-${number}`, NOON));
    const all = ids(await walk(service, '/v2/thesis', 100));
    expect([all.length, new Set(all).size]).toEqual([110, 110]);
    for (const size of [37, 7, 1])
      expect(ids(await walk(service, '/v2/thesis', size))).toEqual(all);
  });

  it('returns consistent pages while posts arrive', async () => {
    const service = await sandbox();
    const before = await ask(service, '/v2/thesis');
    const next = `/v2/thesis?before=${before.body.nextBefore}`;
    const quiet = await ask(service, next);
    await service.advance(1_000);
    for (let number = 0; number < 5; number++) service.post();
    expect((await ask(service, next)).body).toEqual(quiet.body);
    expect(ids((await ask(service, '/v2/thesis')).body.items).slice(5)).toEqual(
      ids(before.body.items).slice(0, 15),
    );
  });

  const [AUTHOR, OTHER] = [
    '3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a12',
    '3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a13',
  ];
  const nobody = '/v2/thesis/user/3f0a4a4e-7a9f-4c0e-9d7e-0d3f3b1f9a11';
  it.each(['/v2/thesis', '/v2/thesis/token/0xabc', nobody, `${nobody}/token/0xabc`])(
    'rejects an unknown "before" cursor on %s with 400, free of charge',
    async (path) => {
      const service = await sandbox();
      for (const before of ['nothing', '', '1795257845882']) {
        expect(await statusAndCode(service, `${path}?before=${before}`)).toBe(
          '400 VALIDATION_ERROR',
        );
      }
      expect(service.meter().totalUnits).toBe(0);
    },
  );

  it('rejects a cursor that is not a post of the feed with 400', async () => {
    const service = await sandbox();
    service.post({ ...postAt('mine', NOON), authorId: AUTHOR, tokenAddress: '0xabc' });
    service.post({ ...postAt('other', NOON), authorId: OTHER, tokenAddress: '0xdef' });
    for (const path of [
      `/v2/thesis/user/${AUTHOR}`,
      '/v2/thesis/token/0xABC',
      `/v2/thesis/user/${AUTHOR}/token/0xabc`,
    ]) {
      expect(await statusAndCode(service, `${path}?before=other`)).toBe('400 VALIDATION_ERROR');
      expect((await ask(service, `${path}?before=mine`)).status).toBe(200);
    }
  });

  it('adds the normalized token, its network and symbol to a token page, from any post that has them', async () => {
    const service = await sandbox();
    service.post(postAt('older', NOON - 1));
    service.post({ ...postAt('newer', NOON), tokenNetwork: null, tokenSymbol: null });
    const mixed = '0xABCDEF0000000000000000000000000000000001';
    const { body } = await ask(service, `/v2/thesis/token/${mixed}`);
    expect(Object.keys(body).sort()).toEqual(
      [...common, 'symbol', 'tokenAddress', 'tokenNetwork'].sort(),
    );
    const tokenAddress = mixed.toLowerCase();
    expect(body).toMatchObject({ tokenAddress, tokenNetwork: 'base', symbol: 'TIE', count: 2 });
    expect(() => TokenThesisPage.parse(body)).not.toThrow();
  });

  it('is case-sensitive for Solana tokens', async () => {
    const service = await sandbox();
    const tokenAddress = 'So11111111111111111111111111111111111111112';
    service.post(postAt('sol', NOON, { tokenAddress, tokenNetwork: 'sol' }));
    const { body } = await ask(service, `/v2/thesis/token/${tokenAddress}`);
    expect([body.tokenAddress, body.count]).toEqual([tokenAddress, 1]);
    const other = await ask(service, `/v2/thesis/token/${tokenAddress.toLowerCase()}`);
    expect(other.body).toMatchObject({ tokenAddress: tokenAddress.toLowerCase(), count: 0 });
  });

  it('filters by author, and by author and token', async () => {
    const service = await sandbox();
    const all = await walk(service, '/v2/thesis', 100);
    const { authorId, authorHandle, tokenAddress } = first(
      all.filter((item) => item.authorId && item.tokenAddress),
    );
    expect((await ask(service, `/v2/user/id/${authorId}`)).body).toMatchObject({
      id: authorId,
      handle: authorHandle,
    });
    const user = await ask(service, `/v2/thesis/user/${authorId}?limit=100`);
    expect(user.body).toMatchObject({ userId: authorId, tokenAddress: null });
    expect(Object.keys(user.body).sort()).toEqual([...common, 'tokenAddress', 'userId'].sort());
    expect(() => UserThesisPage.parse(user.body)).not.toThrow();
    const both = await ask(service, `/v2/thesis/user/${authorId}/token/${tokenAddress}?limit=100`);
    expect(both.body).toMatchObject({ userId: authorId, tokenAddress });
    expect(both.body.count).toBeGreaterThan(0);
    const expected = user.body.items.filter((item: Thesis) => item.tokenAddress === tokenAddress);
    expect(ids(both.body.items)).toEqual(ids(expected));
  });

  it('returns an empty page for a token, an author, or an author and token without theses', async () => {
    const service = await sandbox();
    const { items } = (await ask(service, '/v2/thesis')).body;
    const { authorId } = first((items as Thesis[]).filter((item) => item.authorId));
    const token = '0xABCDEF0000000000000000000000000000000009';
    const tokenAddress = token.toLowerCase();
    const empty = { count: 0, hasMore: false, nextBefore: null, updatedAt: null, items: [] };
    for (const [path, more] of [
      [`/v2/thesis/token/${token}`, { tokenAddress, tokenNetwork: null, symbol: null }],
      [`/v2/thesis/user/${authorId}/token/${token}`, { userId: authorId, tokenAddress }],
      [nobody, { userId: nobody.split('/').at(-1), tokenAddress: null }],
    ] as const) {
      const { status, body } = await ask(service, path);
      expect([status, body]).toEqual([200, { ...empty, ...more }]);
    }
  });
});
