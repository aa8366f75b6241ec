import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Board, boardPeriods, Callout, LaunchpadUser } from '../../../src/contract/records/launchpad.ts';
import { Pnl } from '../../../src/contract/records/pnl.ts';
import { Thesis, ThesisFrameData } from '../../../src/contract/records/thesis.ts';
import { User } from '../../../src/contract/records/user.ts';
import { hostileTexts } from '../../../src/sandbox/world/generated/texts.ts';
import { tradeBehind } from '../../../src/sandbox/world/generated/theses.ts';
import { seedOf } from '../../../src/sandbox/world/hash.ts';
import { createWorld } from '../../../src/sandbox/world/index.ts';
import type { World, WorldOptions } from '../../../src/sandbox/world/types.ts';
import { first, historyOf, itemsOf, NOW, runs, userOf, walk } from './worlds.ts';

const DAY = 86_400_000;

/** Every record of a world as text. */
function everything(world: World, now: number): string {
  const said: unknown[] = [];
  for (const handle of world.users.handles) said.push(userOf(world, handle), world.pnl(handle, now));
  said.push(walk((before) => world.theses.slice({}, before, 100, now)));
  said.push(walk((before) => world.launchpad.callouts({}, before, now)));
  for (const period of boardPeriods) said.push(world.launchpad.board(period, now));
  for (let post = 0; post < 20; post++)
    said.push(world.theses.post(now + post), world.launchpad.postCallout(now + post));
  said.push(world.theses.slice({}, undefined, 40, now + 20));
  return JSON.stringify(said);
}

describe('a world', () => {
  it('is identical for the same options, and differs for another seed', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 900 }), fc.boolean(), (seed, theses, socials) => {
        const options: WorldOptions = { seed, now: NOW, theses, socials, traders: 60 };
        const text = everything(createWorld(options), NOW);
        expect(everything(createWorld(options), NOW)).toBe(text);
        expect(everything(createWorld({ ...options, seed: seed + 1 }), NOW)).not.toBe(text);
      }),
      runs(8),
    );
  });

  it('gives the same records in any order of requests', () => {
    const options: WorldOptions = { seed: 6, now: NOW, theses: 500 };
    const asked = createWorld(options);
    const fresh = createWorld(options);
    for (const handle of asked.users.handles) asked.pnl(handle, NOW + 5 * DAY);
    walk((before) => asked.theses.slice({}, before, 13, NOW));
    asked.launchpad.board('daily', NOW - 50 * DAY);
    expect(everything(asked, NOW)).toBe(everything(fresh, NOW));
  });

  it('only shifts its times for another start time', () => {
    const shift = 17 * DAY;
    const page = (now: number) =>
      itemsOf(createWorld({ seed: 8, now, theses: 500 }).theses.slice({}, undefined, 500, now));
    const moved = page(NOW + shift).map((thesis) => {
      const back = { ...thesis };
      for (const key of ['platformCreatedAt', 'updatedAt', 'closedAt'] as const) {
        const time = back[key];
        if (typeof time === 'number') back[key] = time - shift;
      }
      return back;
    });
    expect(moved).toEqual(page(NOW));
  });

  it('only contains valid records', () => {
    for (const seed of [1, 2]) {
      const world = createWorld({ seed, now: NOW, socials: seed === 2 });
      for (const handle of world.users.handles) {
        const user = userOf(world, handle);
        expect(User.parse(user)).toEqual(user);
        expect(Pnl.parse(world.pnl(handle, NOW))).toEqual(world.pnl(handle, NOW));
      }
      for (const thesis of walk((before) => world.theses.slice({}, before, 100, NOW))) Thesis.parse(thesis);
      for (const callout of walk((before) => world.launchpad.callouts({}, before, NOW))) {
        Callout.parse(callout);
        LaunchpadUser.parse(world.launchpad.user(callout.wallet));
      }
      for (const period of boardPeriods) Board.parse(world.launchpad.board(period, NOW));
      for (let post = 0; post < 200; post++) ThesisFrameData.parse(world.theses.post(NOW + post));
    }
  });
});

describe('a thesis', () => {
  const world = createWorld({ seed: 1, now: NOW });
  const all = walk((before) => world.theses.slice({}, before, 100, NOW));

  it('follows from a trade of its author in its token', () => {
    const { traders, tokens, trades } = historyOf(1, 20_000);
    all.forEach((thesis, place) => {
      const trade = tradeBehind(seedOf(1), 20_000, 19_999 - place);
      const trader = trades.trader(trade);
      const token = tokens.at(trades.token(trader, trades.slot(trade)));
      expect(thesis.tokenAddress).toBe(token.address);
      expect(thesis.platformCreatedAt ?? trades.time(trade)).toBe(trades.time(trade));
      if (thesis.authorId === undefined) return;
      expect(thesis.authorId).toBe(traders.id(trader));
      expect(thesis.authorTradeUsd).toBe(Math.abs(trades.cents(trade)) / 100);
      expect(thesis.tokenNetwork ?? token.network).toBe(token.network);
      expect(traders.chains(trader) & token.chain).not.toBe(0);
    });
  });

  it('has consistent figures', () => {
    for (const thesis of all) {
      if (thesis.authorId === undefined) continue;
      expect(thesis.pnl).toBe(thesis.realizedPnlUsd ?? thesis.unrealizedPnlUsd);
      if (thesis.closedAt != null) {
        expect(thesis.closedAt).toBeGreaterThanOrEqual(thesis.platformCreatedAt ?? 0);
        expect(thesis.unrealizedPnlUsd).toBeNull();
        expect(thesis.realizedPnlUsd).not.toBeNull();
      } else expect(thesis.unrealizedPnlUsd).not.toBeNull();
      expect(thesis.tokenAmount ?? 0).toBeGreaterThanOrEqual(0);
      expect(thesis.updatedAt ?? NOW).toBeGreaterThanOrEqual(thesis.platformCreatedAt ?? 0);
      expect(thesis.updatedAt ?? NOW).toBeLessThanOrEqual(NOW);
    }
  });

  it('omits and nulls the fields that the service may omit or null', () => {
    const every = (key: keyof Thesis) => ({
      absent: all.some((thesis) => !(key in thesis)),
      null: all.some((thesis) => thesis[key] === null),
      given: all.some((thesis) => thesis[key] !== null && thesis[key] !== undefined),
    });
    const both = { absent: true, null: true, given: true };
    for (const key of [
      'segments',
      'likeCount',
      'tokenSymbol',
      'tokenNetwork',
      'authorName',
      'authorIsDev',
      'holdingsUsd',
      'realizedPnlUsd',
      'unrealizedPnlUsd',
      'tokenAmount',
      'closedAt',
    ] as const) {
      expect([key, every(key)]).toEqual([key, both]);
    }
    for (const key of ['authorHandle', 'thesis', 'platformCreatedAt'] as const) {
      expect([key, every(key)]).toEqual([key, { absent: false, null: true, given: true }]);
    }
    expect(all.some((thesis) => thesis.authorIsDev === true)).toBe(true);
  });

  it('always has a post time if it is recent', () => {
    expect(all.slice(0, 1_500).every((thesis) => thesis.platformCreatedAt !== null)).toBe(true);
  });

  it('has ordinary and hostile texts', () => {
    const texts = all.map((thesis) => thesis.thesis);
    const some = (form: RegExp) => texts.filter((text) => text !== null && form.test(text)).length;
    expect(texts.filter((text) => text === null).length).toBeGreaterThan(20);
    expect(texts.filter((text) => text === '').length).toBeGreaterThan(20);
    expect(texts.filter((text) => (text?.length ?? 0) > 8_000).length).toBeGreaterThan(10);
    for (const form of [
      /\u200d/u,
      /[\u3040-\u30ff]/u,
      /[\u0590-\u05ff]/u,
      /[\u0600-\u06ff]/u,
      /\n/,
      /\u001b\[/,
      /\u001b\]/,
      /[\u0080-\u009f]/,
      /^=/,
      /^\+/,
      /^-/,
      /^@/,
      /^\t/,
      /^\r/,
      /\u202e/,
      /^\{"/,
      /\u0000/,
    ]) {
      expect([form, some(form) > 5]).toEqual([form, true]);
    }
    const broken = texts.filter((text) => text !== null && /\p{Surrogate}/u.test(text));
    expect(broken.length).toBeGreaterThan(5);
    expect(JSON.stringify(first(broken))).toContain('\\ud83d');
  });

  it('of the hostile author contains every known attack', () => {
    const { id } = userOf(world, 'evil');
    const own = walk((before) => world.theses.slice({ userId: id }, before, 100, NOW));
    const starts = new Set(own.map((thesis) => (thesis.thesis ?? '').slice(0, 4)));
    for (const text of hostileTexts)
      expect(starts.has(text.replace('$T', '').slice(0, 4)) || text.startsWith('$T')).toBe(true);
    expect(userOf(world, 'evil').bio).toContain('\u001b]8;;');
  });

  it('has segments that join to its text, some with a link', () => {
    const rich = all.filter((thesis) => thesis.segments && thesis.segments.length > 0);
    for (const { segments, thesis } of rich)
      expect(segments?.map((one) => one.text ?? '').join('')).toBe(thesis);
    expect(
      rich.filter(({ segments }) => segments?.some((one) => one.link !== undefined)).length,
    ).toBeGreaterThan(5_000);
  });

  it('posted live is first in the pages, without the two fields of frames', () => {
    const live = createWorld({ seed: 1, now: NOW });
    for (let post = 0; post < 100; post++) {
      const frame = live.theses.post(NOW + post * 1_000);
      const { authorAvatarUrl, tokenImageUrl, ...thesis } = frame;
      expect([authorAvatarUrl, tokenImageUrl]).not.toContain(undefined);
      expect(thesis.platformCreatedAt).toBe(NOW + post * 1_000);
      expect(itemsOf(live.theses.slice({}, undefined, 1, NOW + post * 1_000))).toEqual([thesis]);
      const author = live.users.byHandle(frame.authorHandle ?? '');
      if (author && frame.authorId !== undefined) {
        expect(frame.authorId).toBe(author.id);
        const top = itemsOf(live.theses.slice({ userId: author.id }, undefined, 1, NOW + post * 1_000));
        expect(top).toEqual([thesis]);
      }
    }
  });

  it('that is added twice is stored once', () => {
    const live = createWorld({ seed: 1, now: NOW, theses: 100 });
    const recorded = itemsOf(live.theses.slice({}, undefined, 100, NOW));
    for (const thesis of recorded) live.theses.add(thesis);
    expect(live.theses.count).toBe(100);
    live.theses.remove(first(recorded).id);
    live.theses.add(first(recorded));
    expect(itemsOf(live.theses.slice({}, undefined, 200, NOW))).toHaveLength(100);
    expect(live.theses.count).toBe(100);
  });
});
