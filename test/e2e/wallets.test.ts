import { expect, test } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

const NOBODY = '11111111111111111111111111111112';

test.each([
  ['table', 'not asked'],
  ['markdown', 'not asked'],
  ['csv', 'NOT_ASKED'],
  ['json', '"code":"NOT_ASKED"'],
  ['ndjson', '"code":"NOT_ASKED"'],
])(
  'a wallet that the cheap ways did not find is printed as %s, and exits 3 like a miss',
  async (format, text) => {
    const sandbox = await withSandbox();
    const words = ['whois', NOBODY, '--cheap', '-o', format];
    const one = await runInProcess(words, { sandbox });
    expect([one.exitCode, sandbox.meter().unitsUsed], one.stderr).toEqual([3, 10]);
    expect(one.stdout).toContain(text);
    const some = await runInProcess([...words, 'mira'], { sandbox });
    expect([some.exitCode, some.stderr]).toEqual([0, '']);
  },
);

test('the wallet of a trader who was looked up costs nothing, and 100 CU to confirm', async () => {
  const sandbox = await withSandbox();
  const home = openHome();
  const run = (...words: string[]) => home.run(['whois', ...words], { sandbox });
  await run('mira');
  const wallet = sandbox.world.user('mira')?.solanaAddress ?? '';
  expect((await run(wallet)).stdout).toMatch(/"handle":"mira".*"via":"book"/);
  expect(sandbox.meter().unitsUsed).toBe(100);
  await run(wallet, '--max-age', '1ms');
  expect(sandbox.meter().unitsUsed).toBe(200);
});
