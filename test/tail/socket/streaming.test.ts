import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { BUDGET } from '../../../src/contract/budget.ts';
import type { TailNotice } from '../../../src/tail/notice.ts';
import { createParts, type TailParts } from '../../../src/tail/parts.ts';
import type { Connect, LinkEnd, TailOptions } from '../../../src/tail/ports.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { collecting, linkTo, sourceOf, still } from '../fakes.ts';

const NOW = Date.UTC(2026, 0, 1);
const confirmation = Buffer.from('{"type":"subscription","subscription":{"type":"all"}}');

/** The parts of a run that may open a connection; `connect` is called for each one. */
function open(connect: Connect, options: Partial<TailOptions> = {}) {
  const clock = virtualClock(NOW);
  const notices: TailNotice[] = [];
  const parts = createParts(
    { clock, ...still, source: sourceOf(), connect, output: { writer: collecting().writer } },
    {
      ...{ start: { kind: 'now' }, via: 'auto', lagMs: 10_000, feed: 'f' },
      on: (notice) => notices.push(notice),
      ...options,
    },
    new AbortController().signal,
  );
  return { parts, clock, notices };
}

/** A connection that confirms the subscription. */
function linkOf() {
  const queue = [confirmation];
  const state: { signs: number; end?: LinkEnd } = { signs: 0 };
  return { link: linkTo(state, { next: () => queue.shift() }), state };
}

/** Steps until the connection is subscribed, or streaming was given up. */
async function dial({ streaming, session, walker, printer }: TailParts) {
  walker.isPlaced = true;
  for (let turn = 0; turn < 6; turn++) {
    streaming.step(true);
    await new Promise((resolve) => setImmediate(resolve));
    await printer.step(true);
  }
  return session.state.kind;
}

/** Pages that have one post each, from a second before. */
const pagesAt = (...seconds: number[]) => seconds.map((at) => [at, 'page', at - 1] as const);
const burst = (at: number) => Array.from({ length: 9 }, () => [at, 'page', at - 1] as const);

const refusing =
  (failure: Failure): Connect =>
  () =>
    Promise.reject(failure);
const kinds = (notices: readonly TailNotice[]) => notices.map(({ kind }) => kind);

const ws = { via: 'ws' } as const;

describe('streaming', () => {
  test('begins when the service has confirmed the subscription', async () => {
    const { link } = linkOf();
    const { parts, notices } = open(async () => link);
    expect(await dial(parts)).toBe('live');
    expect(notices).toEqual([{ kind: 'connected' }]);
  });

  test('opens no connection while it may not', async () => {
    const { parts } = open(async () => linkOf().link);
    for (let turn = 0; turn < 3; turn++) expect(parts.streaming.step(false)).toBe(false);
    expect(parts.session.state.kind).toBe('down');
  });

  test.each([
    ['socket', new Failure('forbidden', 'no', { code: 'FORBIDDEN_SCOPE', status: 403 })],
    ['socket', new Failure('missing', 'no', { code: 'NOT_FOUND', status: 404 })],
    ['units', new Failure('quota', 'no', { code: 'QUOTA_EXCEEDED', status: 402 })],
    ['ceiling', new Failure('limit', 'no', { code: 'CEILING' })],
    ['budget', new Failure('limit', 'no', { code: BUDGET, retryAfter: 60 })],
  ])('gives way to polls: %s', async (why, failure) => {
    const { parts, notices } = open(refusing(failure));
    expect(await dial(parts)).toBe('polling');
    expect(notices).toMatchObject([{ kind: 'fallback', why }]);
  });

  test.each([
    ['a rejected key', new Failure('auth', 'no', { code: 'UNAUTHORIZED' }), {}],
    ['no units, with --via ws', new Failure('quota', 'no', { code: 'QUOTA_EXCEEDED' }), ws],
    ['a plan without it, with --via ws', new Failure('forbidden', 'no', { code: 'FORBIDDEN' }), ws],
  ])('ends the run: %s', async (_, failure, options) => {
    await expect(dial(open(refusing(failure), options).parts)).rejects.toBe(failure);
  });

  test('ends the run with --via ws and without a WebSocket, but not as if a subject were missing', async () => {
    const failure = new Failure('missing', 'no', { code: 'NOT_FOUND', status: 404 });
    const { parts } = open(refusing(failure), { via: 'ws' });
    await expect(dial(parts)).rejects.toMatchObject({ kind: 'service', code: 'NOT_FOUND' });
  });

  test('returns when the budget renews that had refused a minute', async () => {
    const refusals = [new Failure('limit', 'no', { code: BUDGET, retryAfter: 60 })];
    const { parts, clock, notices } = open(async () => {
      const failure = refusals.shift();
      if (failure) throw failure;
      return linkOf().link;
    });
    await dial(parts);
    expect(parts.streaming.step(true)).toBe(false);
    await clock.sleep(60_000);
    expect(await dial(parts)).toBe('live');
    expect(kinds(notices)).toEqual(['fallback', 'streamAgain', 'connected']);
  });

  test('reports a connection that is lost, and dials again', async () => {
    const first = linkOf();
    const links = [first.link, linkOf().link];
    const { parts, clock, notices } = open(async () => links.shift() ?? linkOf().link);
    await dial(parts);
    first.state.end = { why: 'reset', text: '1006' };
    expect(parts.streaming.step(true)).toBe(true);
    await clock.sleep(30_000);
    expect(await dial(parts)).toBe('live');
    expect(kinds(notices)).toEqual(['connected', 'down', 'connected']);
  });

  const SECOND = 1_000;
  type Step = readonly [seconds: number, how: 'frame' | 'page', postedAt: number];
  const old = [60, 120, 180].map((at) => [at, 'page', -1] as const);
  test.each<readonly [string, boolean, 'live' | 'down' | 'polling', readonly Step[]]>([
    ['pages have two posts', false, 'live', pagesAt(60, 120)],
    ['pages have three posts, one a minute', false, 'polling', pagesAt(60, 120, 180)],
    ['pages have many posts at once, whose frames may still come', false, 'live', burst(60)],
    ['frames of many posts are 15 s late', false, 'polling', [...burst(60), [80, 'page', 70]]],
    ['a frame came before', true, 'down', pagesAt(60, 120, 180)],
    ['a frame comes', true, 'live', [...pagesAt(60, 120), [150, 'frame', 150], ...pagesAt(180)]],
    ['posts are older than a frame', false, 'live', [[10, 'frame', 300], ...pagesAt(60, 120, 180)]],
    ['posts are older than the subscription', false, 'live', old],
  ])(
    'of which nothing comes is dropped, and ended if nothing ever came: %s',
    async (_, hadFrame, state, steps) => {
      for (const via of ['auto', 'ws'] as const) {
        const timing = { beatMs: 3_600_000 };
        const { parts, clock, notices } = open(async () => linkOf().link, { via, timing });
        const { session, streaming } = parts;
        await dial(parts);
        session.hasDelivered = hadFrame;
        session.judge(clock.mono(), NOW);
        const began = clock.mono();
        const play = async () => {
          for (const [seconds, how, postedAt] of steps) {
            await clock.sleep(began + seconds * SECOND - clock.mono());
            const at = NOW + postedAt * SECOND;
            const row = { id: `${seconds} ${how}`, at, record: {}, raw: null };
            if (how === 'frame') session.heard({ kind: 'row', row });
            else {
              session.missed(at);
              session.judge(clock.mono(), NOW);
            }
          }
          streaming.step(true);
        };
        if (via === 'ws' && state === 'polling')
          await expect(play()).rejects.toMatchObject({ kind: 'service', code: 'SUBSCRIPTION' });
        else await play();
        expect(session.state.kind).toBe(state);
        if (state === 'polling' && via === 'auto')
          expect(notices.at(-1)).toMatchObject({ kind: 'fallback', why: 'socket' });
      }
    },
  );
});
