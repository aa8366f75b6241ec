import { describe, expect, test } from 'vitest';
import { runInProcess } from './harness.ts';

const theses = ['thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken'];

describe('trdr price', () => {
  test('prints a row for each endpoint, without a request', async () => {
    const { exitCode, stderr, records } = await runInProcess('price');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(records().find((row) => row['endpoint'] === 'user.wallet')).toMatchObject({
      least: 200,
      most: 30_000,
    });
  });

  test.each([
    ['whois', ['user.handle', 'user.wallet', 'user.id', 'launchpad.user']],
    ['thesis list', [...theses, 'user.handle', 'user.id', 'launchpad.user']],
    ['resolve', ['user.handle', 'user.resolve']],
    ['launchpad board', ['launchpad.board', 'launchpad.user', 'user.id', 'user.handle']],
    ['me', ['me']],
    ['user.pnl', ['user.pnl']],
    ['thesis', theses],
  ])('prints the prices of the calls of %j', async (words, endpoints) => {
    const { records } = await runInProcess(`price ${words}`);
    expect(records().map(({ endpoint }) => endpoint)).toEqual(endpoints);
  });
});
