import { describe, expect, it } from 'vitest';
import {
  ask,
  bearer,
  costOf,
  listen,
  MINUTE,
  rejectedHandshake,
  sandbox,
  statusAndCode,
  until,
} from '../conformance/help.ts';

const page = '/v2/thesis';
type Service = Awaited<ReturnType<typeof sandbox>>;

/** The raw response of a call, or the name of the error. */
async function raw(service: Service, path = page): Promise<string> {
  try {
    const response = await fetch(service.url + path, { headers: bearer(service.key) });
    return `${response.status} ${await response.text()}`;
  } catch {
    return 'broken';
  }
}

describe('faults of calls', () => {
  it('apply to their place, as often as requested', async () => {
    const service = await sandbox({ faults: '500@theses*2' });
    expect(await statusAndCode(service, '/v2/launchpad/thesis')).toBe('200');
    expect(await statusAndCode(service, page)).toBe('500 INTERNAL_ERROR');
    expect(await statusAndCode(service, page)).toBe('500 INTERNAL_ERROR');
    expect(await statusAndCode(service, page)).toBe('200');
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

  it('drift changes fields of a response, the same ones for the same seed', async () => {
    const answers = async (seed: number) => {
      const service = await sandbox({ faults: 'drift', seed });
      return [await raw(service), await raw(service)];
    };
    const [first, second] = await answers(4);
    expect(first).not.toBe(second);
    expect(JSON.parse(String(first).slice(4)).items).toHaveLength(20);
    expect(await answers(4)).toEqual([first, second]);
  });

  it('delay responds after the given time', async () => {
    const service = await sandbox({ faults: 'delay=2s' });
    let answered = false;
    const asked = ask(service, page).finally(() => {
      answered = true;
    });
    await until(() => service.counts.inFlight === 1);
    await service.advance(1_999);
    expect(answered).toBe(false);
    await service.advance(1);
    expect((await asked).status).toBe(200);
  });

  it('delay charges a caller that disconnected meanwhile', async () => {
    const service = await sandbox({ faults: 'delay=20s' });
    const triggered = () => service.faults.triggered['delay=20s'] ?? 0;
    for (const [number, [path, body]] of (
      [
        [page, undefined],
        ['/v2/user/handles/pnl', '{"handles":["nobody_at_all"]}'],
      ] as const
    ).entries()) {
      const leaving = new AbortController();
      const asked = fetch(service.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: bearer(service.key),
        signal: leaving.signal,
        ...(body === undefined ? {} : { body }),
      });
      await until(() => triggered() > number);
      leaving.abort();
      await expect(asked).rejects.toThrow();
      await service.advance(20_000);
      await until(() => service.counts.inFlight === 0);
    }
    expect(service.meter().totalUnits).toBe(2 * 200);
  });

  it('stall never responds and charges nothing', async () => {
    const service = await sandbox({ faults: 'stall*1' });
    const giveUp = new AbortController();
    const asked = fetch(service.url + page, { headers: bearer(service.key), signal: giveUp.signal });
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
      const refused = await rejectedHandshake(service, bearer(service.key));
      expect(refused.status).toBe(status);
    }
    expect(service.meter().totalUnits).toBe(0);
  });
});

describe('faults of frames', () => {
  const posts = (service: Service, count: number) => Array.from({ length: count }, () => service.post().id);
  const idsOf = (frames: { data?: { id: string } }[]) => frames.map(({ data }) => data?.id);

  async function subscribed(faults: string) {
    const service = await sandbox({ faults });
    const socket = await listen(service);
    await socket.subscribe();
    return { service, socket };
  }

  it('withhold drops a frame whose post is in the pages', async () => {
    const { service, socket } = await subscribed('withhold+1*1');
    const [one, two, three] = posts(service, 3);
    expect(idsOf(await socket.drain())).toEqual([one, three]);
    const { body } = await ask(service, page);
    expect(body.items.map((item: { id: string }) => item.id)).toContain(two);
  });

  it('dup sends a frame twice', async () => {
    const { service, socket } = await subscribed('dup+1*1');
    const [one, two, three] = posts(service, 3);
    expect(idsOf(await socket.drain())).toEqual([one, two, two, three]);
  });

  it('reorder sends a frame after the next one, or after its time', async () => {
    const { service, socket } = await subscribed('reorder*1=1:2s');
    const [one, two, three] = posts(service, 3);
    expect(idsOf(await socket.drain())).toEqual([two, one, three]);
    service.faults.set('reorder*1=1:2s');
    const [alone] = posts(service, 1);
    expect(await socket.drain()).toEqual([]);
    await service.advance(2_000);
    expect(idsOf(await socket.drain())).toEqual([alone]);
  });

  it('delay sends a frame later', async () => {
    const { service, socket } = await subscribed('delay@ws*1=3s');
    const [one, two] = posts(service, 2);
    expect(idsOf(await socket.drain())).toEqual([two]);
    await service.advance(3_000);
    expect(idsOf(await socket.drain())).toEqual([one]);
  });

  it('html and shape send invalid frames', async () => {
    const { service, socket } = await subscribed('html@ws*1,shape@ws+1*1');
    posts(service, 3);
    expect(await socket.next()).toMatch(/^<html>/);
    expect((await socket.next()).type).toBe('surprise');
    expect((await socket.next()).type).toBe('thesis');
  });

  it('drop resets the socket, close sends a close frame', async () => {
    const dropped = await subscribed('drop');
    dropped.service.post();
    expect(await dropped.socket.closed).toBe(1006);
    const closed = await subscribed('close');
    closed.service.post();
    expect(await closed.socket.closed).toBe(1001);
  });

  it('drop with a time ends sockets after that time on average', async () => {
    const { service, socket } = await subscribed('drop=10s');
    await service.advance(10 * MINUTE);
    expect(await socket.closed).toBe(1006);
    expect(service.faults.triggered).toEqual({ 'drop=10s': 1 });
  });

  it('halfopen silences the socket until the service notices a missing pong', async () => {
    const { service, socket } = await subscribed('halfopen');
    let heard = 0;
    socket.ws.on('ping', () => heard++);
    posts(service, 3);
    expect(service.sockets.size).toBe(1);
    await service.advance(MINUTE);
    await service.advance(MINUTE);
    expect([service.sockets.size, heard, socket.ws.readyState]).toEqual([0, 0, socket.ws.OPEN]);
  });
});

describe('faults of posts', () => {
  const ids = async (service: Service) =>
    (await ask(service, page)).body.items.map((item: { id: string }) => item.id);

  it('late publishes a post and its frame below newer posts', async () => {
    const service = await sandbox({ faults: 'late*1=1:10s' });
    const socket = await listen(service);
    await socket.subscribe();
    await service.advance(1_000);
    const late = service.post();
    await service.advance(1_000);
    const newer = service.post();
    expect((await ids(service)).slice(0, 1)).toEqual([newer.id]);
    expect((await socket.drain()).map(({ data }) => data.id)).toEqual([newer.id]);
    await service.advance(10_000);
    expect((await ids(service)).slice(0, 2)).toEqual([newer.id, late.id]);
    expect((await socket.drain()).map(({ data }) => data.id)).toEqual([late.id]);
  });

  it('lag shows a post in the pages after its frame', async () => {
    const service = await sandbox({ faults: 'lag*1=1:2s' });
    const socket = await listen(service);
    await socket.subscribe();
    await service.advance(1_000);
    const { id } = service.post();
    expect((await socket.drain()).map(({ data }) => data.id)).toEqual([id]);
    expect(await ids(service)).not.toContain(id);
    await service.advance(2_000);
    expect(await ids(service)).toContain(id);
  });

  it('vanish deletes a post', async () => {
    const service = await sandbox({ faults: 'vanish*1=1:5s' });
    await service.advance(1_000);
    const { id } = service.post();
    expect(await ids(service)).toContain(id);
    await service.advance(5_000);
    expect(await ids(service)).not.toContain(id);
    expect(await statusAndCode(service, `${page}?before=${id}`)).toBe('400 VALIDATION_ERROR');
  });
});

describe('a restart', () => {
  it('closes every socket and loses subscriptions and rates, but not usage', async () => {
    const service = await sandbox({ ratePerMinute: 3 });
    const socket = await listen(service);
    await socket.subscribe();
    const cost = service.meter().totalUnits;
    await ask(service, '/v2/me');
    await ask(service, '/v2/me');
    expect(await statusAndCode(service, '/v2/me')).toBe('429 RATE_LIMITED');
    service.restart();
    expect(await socket.closed).toBe(1006);
    expect(await statusAndCode(service, '/v2/me')).toBe('200');
    expect(service.meter().totalUnits).toBe(cost);
    const again = await listen(service);
    service.post();
    expect(await again.drain()).toEqual([]);
  });

  it('can last for a given time', async () => {
    const service = await sandbox();
    service.restart(5_000);
    expect(await raw(service)).toBe('broken');
    await service.advance(5_000);
    expect(await raw(service)).toMatch(/^200/);
    expect((await costOf(service, () => ask(service, page))).cu).toBe(200);
  });
});
