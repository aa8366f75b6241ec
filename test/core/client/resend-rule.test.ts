import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/base/failure.ts';
import { cu } from '../../../src/contract/limits.ts';
import {
  broken,
  noAnswer,
  redirected,
  unreachable,
} from '../../../src/core/http/network-failures.ts';
import { error, failureOf, json, type Reply, rig, user } from '../fakes.ts';

describe('a call of the client', () => {
  const html = (status: number) => ({ status, headers: {}, text: '<html>' });
  const thrown = (failure: Failure): Reply => {
    return () => {
      throw failure;
    };
  };
  const mert = { params: { handle: 'mert' } };
  const never = (reply: Reply) => ({ id: 'user.resolve', reply, isLimited: false }) as const;
  const repeated = (reply: Reply) => ({ id: 'user.handle', reply, isLimited: false }) as const;

  // How often it is sent, and what its failure has lost, if the service never changes its answer.
  it.each([
    ['a free failure', never(() => error(503, 'OVERLOADED')), 3, 0],
    ['an unreachable host', never(thrown(unreachable('h', undefined))), 3, 0],
    ['a 500', never(() => error(500, 'INTERNAL_ERROR')), 3, 0],
    ['a 504 of the service', never(() => error(504, 'TIMEOUT')), 3, 0],
    ['a 403 of a firewall', never(() => html(403)), 1, 0],
    ['a deployment switched off', never(() => error(503, 'B2B_DISABLED')), 1, 0],
    ['a conflict', never(() => error(409, 'CONFLICT')), 1, 0],
    ['a conflict of a read', repeated(() => error(409, 'CONFLICT')), 1, 0],
    ['no answer', never(thrown(noAnswer('h', 1))), 1, cu.reveal],
    ['a broken connection', never(thrown(broken('h', undefined))), 1, cu.reveal],
    ['a redirect', never(thrown(redirected('h', 302, '/login'))), 1, cu.reveal],
    ['a login page', never(() => html(200)), 1, cu.reveal],
    ['a 400 of a proxy', never(() => html(400)), 1, cu.reveal],
    ['a 504 of a gateway', never(() => html(504)), 1, cu.reveal],
    ['a 202 without a record', never(() => json(202, [])), 1, cu.reveal],
    ['no answer of a read', repeated(thrown(noAnswer('h', 1))), 3, 3 * cu.miss],
    ['a 504 of a gateway, of a read', repeated(() => html(504)), 3, 3 * cu.miss],
    ['an unreadable read', repeated(() => json(200, [])), 1, cu.miss],
    [
      'no answer, and a limit for one',
      { ...repeated(thrown(noAnswer('h', 1))), isLimited: true },
      1,
      cu.miss,
    ],
  ])('follows the rule after %s', async (_, { id, reply, isLimited }, times, cuLost) => {
    const limit = isLimited ? { maxCu: cu.miss } : {};
    const { client, sent } = rig(reply, { retries: 2, ...limit });
    const failure = await failureOf(client.call(id, mert));
    expect([sent.length, failure.cuLost]).toEqual([times, cuLost]);
  });

  it('delivers the answer of a repetition, and counts the loss', async () => {
    let asked = 0;
    const { client } = rig(() => {
      if (asked++ === 0) throw noAnswer('h', 1);
      return json(200, user());
    });
    await client.call('user.handle', mert);
    expect(client.spent).toMatchObject({ cu: cu.lookup, atMost: cu.lookup + cu.miss });
  });
});
