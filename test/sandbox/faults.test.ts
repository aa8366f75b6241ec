import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { faultKinds, parseFaults } from '../../src/sandbox/faults/grammar.ts';
import {
  ask,
  bearer,
  listen,
  MINUTE,
  rejectedHandshake,
  sandbox,
  statusAndCode,
  until,
} from '../conformance/help.ts';

const page = '/v2/thesis';
type Service = Awaited<ReturnType<typeof sandbox>>;

describe('the fault syntax', () => {
  it.each([
    ['drop=0.01', { chance: 0.01, time: null }],
    ['429=5%', { chance: 0.05, kind: 'code', code: 'RATE_LIMITED' }],
    ['overloaded', { chance: 1, kind: 'code', code: 'OVERLOADED' }],
    ['502', { kind: 'gateway', status: 502 }],
    ['delay=200ms..2s', { chance: 1, time: { min: 200, max: 2_000 } }],
    ['delay=2s..200ms', { chance: 1, time: { min: 200, max: 2_000 } }],
    ['late=2%:1m', { chance: 0.02, time: { min: 60_000, max: 60_000 } }],
    ['drop=1.5m', { chance: null, time: { min: 90_000, max: 90_000 } }],
    ['500@user.wallet+3*2', { count: 2, skip: 3, chance: 1 }],
    ['delay@ws=1s', { place: 'frame' }],
  ])('reads %s', (text, expected) => {
    expect(parseFaults(text)).toMatchObject([expected]);
  });

  it('reads targets and lists', () => {
    const targets = ['user.wallet', 'thesis.token', 'ws'] as const;
    const of = (text: string) => targets.filter((target) => parseFaults(text)[0]?.at(target));
    expect(['500@user.wallet', '500@theses', '500@thesis.*', '503@ws', '503'].map(of)).toEqual([
      ...[['user.wallet'], ['thesis.token'], ['thesis.token'], ['ws']],
      ['user.wallet', 'thesis.token'],
    ]);
    const list = parseFaults('drop=0.01, delay=200ms,,dup=1%');
    expect(list.map(({ text }) => text)).toEqual(['drop=0.01', 'delay=200ms', 'dup=1%']);
  });

  it.each([
    ['bogus', Object.keys(faultKinds).join(', ')],
    ['=5%', 'write name[@where]'],
    ['late@user=1s', 'write late[+skip]'],
    ['dup@user.wallet', 'write dup[@ws]'],
    ['cut@ws', 'an endpoint'],
    ['500@nowhere', 'or ws'],
    ['delay=5%', '=[chance:]time'],
    ['cut=1s', '[=chance],'],
    ['500=abc', 'write name[@where]'],
    ['500=1s:5%', 'write name[@where]'],
    ['500=200%', 'a chance is 5%'],
  ])('suggests how to correct %s', (text, hint) => {
    const read = () => parseFaults(text);
    expect(read).toThrow(Failure);
    expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
  });
});

/** The raw response of a call, or the name of the error. */
async function raw(service: Service): Promise<string> {
  try {
    const response = await fetch(service.url + page, { headers: bearer(service.key) });
    return `${response.status} ${await response.text()}`;
  } catch {
    return 'broken';
  }
}

describe('faults of calls', () => {
  it('apply to their place, as often as requested', async () => {
    const service = await sandbox({ faults: '500@theses*2' });
    expect(await statusAndCode(service, '/v2/launchpad/thesis')).toBe('200');
    for (const expected of ['500 INTERNAL_ERROR', '500 INTERNAL_ERROR', '200'])
      expect(await statusAndCode(service, page)).toBe(expected);
  });

  it.each([
    ['502', /^502 <!doctype html>/, 0],
    ['reset', /^broken$/, 0],
    ['lost', /^broken$/, 200],
    ['cut', /^broken$/, 200],
    ['html', /^200 <!doctype html>/, 200],
    ['shape', /^200 \{(?!.*"items")/, 200],
  ])('%s answers %s, and costs %i', async (faults, answer, units) => {
    const service = await sandbox({ faults });
    expect(await raw(service)).toMatch(answer);
    expect(service.meter().totalUnits).toBe(units);
  });

  it('delay responds after its time, and charges a caller that disconnected meanwhile', async () => {
    const service = await sandbox({ faults: 'delay=2s' });
    const leaving = new AbortController();
    const asked = fetch(service.url + page, {
      headers: bearer(service.key),
      signal: leaving.signal,
    });
    await until(() => service.faults.triggered['delay=2s'] === 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await service.advance(1_999);
    expect(service.counts.inFlight).toBe(1);
    await service.advance(1);
    await until(() => service.counts.inFlight === 0);
    expect(service.meter().totalUnits).toBe(200);
  });

  it('stall never responds and charges nothing', async () => {
    const service = await sandbox({ faults: 'stall*1' });
    const giveUp = new AbortController();
    const asked = fetch(service.url + page, {
      headers: bearer(service.key),
      signal: giveUp.signal,
    });
    await until(() => service.log.length === 1);
    giveUp.abort();
    await expect(asked).rejects.toThrow();
    expect(service.meter().totalUnits).toBe(0);
    expect(await statusAndCode(service, page)).toBe('200');
  });

  it('reject the handshake with any status', async () => {
    const service = await sandbox();
    for (const status of [401, 402, 403, 404, 429, 500, 502, 503, 504]) {
      service.faults.set(`${status}@ws`);
      expect((await rejectedHandshake(service, bearer(service.key))).status).toBe(status);
    }
    expect(service.meter().totalUnits).toBe(0);
  });
});

async function subscribed(faults: string) {
  const service = await sandbox({ faults });
  const socket = await listen(service);
  await socket.subscribe();
  await service.advance(1_000);
  const frames = async () => (await socket.drain()).map(({ data }) => data.id as string);
  const pages = async () =>
    (await ask(service, page)).body.items.map((item: { id: string }): string => item.id);
  return { service, socket, frames, pages };
}

describe('faults of frames', () => {
  it.each([
    ['withhold+1*1', [0, 2], []],
    ['dup+1*1', [0, 1, 1, 2], []],
    ['reorder*1=1:2s', [1, 0, 2], []],
    ['reorder+2*1=1:2s', [0, 1], [2]],
    ['delay@ws*1=2s', [1, 2], [0]],
  ])('%s sends the frames %j at once, and %j after 2 s', async (faults, now, later) => {
    const { service, frames, pages } = await subscribed(faults);
    const posts = [0, 1, 2].map(() => service.post().id);
    expect(await frames()).toEqual(now.map((at) => posts[at]));
    await service.advance(2_000);
    expect(await frames()).toEqual(later.map((at) => posts[at]));
    expect((await pages()).slice(0, 3)).toEqual(posts.toReversed());
  });

  it('html and shape send invalid frames', async () => {
    const { service, socket } = await subscribed('html@ws*1,shape@ws+1*1');
    for (let post = 0; post < 3; post++) service.post();
    expect(await socket.next()).toMatch(/^<html>/);
    expect((await socket.next()).type).toBe('surprise');
    expect((await socket.next()).type).toBe('thesis');
  });

  it.each([
    ['drop', 1006],
    ['close', 1001],
    ['drop=10s', 1006],
  ])('%s ends the socket with %i', async (faults, code) => {
    const { service, socket } = await subscribed(faults);
    if (faults.includes('=')) await service.advance(10 * MINUTE);
    else service.post();
    expect(await socket.closed).toBe(code);
    expect(service.faults.triggered).toEqual({ [faults]: 1 });
  });

  it('halfopen silences the socket until the service notices a missing pong', async () => {
    const { service, socket } = await subscribed('halfopen');
    let heard = 0;
    socket.ws.on('ping', () => heard++);
    service.post();
    expect(service.sockets.size).toBe(1);
    await service.advance(MINUTE);
    await service.advance(MINUTE);
    expect([service.sockets.size, heard, socket.ws.readyState]).toEqual([0, 0, socket.ws.OPEN]);
  });
});

describe('faults of posts', () => {
  it('late publishes a post and its frame below newer posts', async () => {
    const { service, frames, pages } = await subscribed('late*1=1:10s');
    const late = service.post().id;
    await service.advance(1_000);
    const newer = service.post().id;
    expect([(await pages())[0], await frames()]).toEqual([newer, [newer]]);
    await service.advance(10_000);
    expect([(await pages()).slice(0, 2), await frames()]).toEqual([[newer, late], [late]]);
  });

  it('lag shows a post in the pages after its frame', async () => {
    const { service, frames, pages } = await subscribed('lag*1=1:2s');
    const { id } = service.post();
    expect([await frames(), (await pages()).includes(id)]).toEqual([[id], false]);
    await service.advance(2_000);
    expect(await pages()).toContain(id);
  });

  it('sell closes the position of a post', async () => {
    const { service } = await subscribed('sell*1=1:5s');
    const { id } = service.post({
      ...{ id: 'open', authorHandle: null, thesis: 'soon', platformCreatedAt: service.clock.now() },
      ...{ closedAt: null, unrealizedPnlUsd: 12 },
    });
    const shown = () => service.world.theses().slice(undefined, 1, service.clock.now())?.items[0];
    expect(shown()).toMatchObject({ id, closedAt: null, unrealizedPnlUsd: 12 });
    await service.advance(5_000);
    expect(shown()).toMatchObject({
      ...{ id, closedAt: service.clock.now(), pnl: 12, realizedPnlUsd: 12, unrealizedPnlUsd: null },
    });
  });

  it('vanish deletes a post', async () => {
    const { service, pages } = await subscribed('vanish*1=1:5s');
    const { id } = service.post();
    expect(await pages()).toContain(id);
    await service.advance(5_000);
    expect(await pages()).not.toContain(id);
    expect(await statusAndCode(service, `${page}?before=${id}`)).toBe('400 VALIDATION_ERROR');
  });
});
