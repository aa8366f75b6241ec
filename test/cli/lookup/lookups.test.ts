import { expect, test } from 'vitest';
import { openDesk, openHome } from '../../e2e/harness.ts';
import { userRecord, withService } from '../../e2e/service.ts';

const error = (status: number, code: string) => ({
  status,
  body: { error: { code, message: code } },
});
const unknown = error(404, 'NOT_OBSERVED');

/** Looks handles up at a service that has these answers, and knows all others. */
async function lookUp(line: string, answers: Readonly<Record<string, object>>) {
  const sandbox = await withService(({ path }) => {
    const handle = path.split('/').at(-1) ?? '';
    return answers[handle] ?? { body: userRecord(handle) };
  });
  const options = { sandbox, tty: { stderr: true }, differs: true };
  return await openHome().run(`whois ${line} -o ndjson`.split(' '), options);
}

test('lookups are planned for each subject once, and none is sent without a place for its record', async () => {
  const { sandbox, run } = await openDesk();
  await run(['whois', 'mira']);
  const spent = sandbox.meter().totalUnits;
  const plan = await run('whois mira solwolf @mira @SolWolf --dry-run -o ndjson'.split(' '));
  expect(plan.records().map(({ most }) => most)).toEqual([0, 200]);
  await run('config set confirmAbove 100'.split(' '));
  const asked = await run('whois sol nero @sol'.split(' '), { tty: true, typed: ['n\n'] });
  expect(asked.said).toContain('Looking up 2 subjects will cost');
  expect((await run('whois solwolf --out none/there.ndjson --yes'.split(' '))).exitCode).toBe(2);
  expect(sandbox.meter().totalUnits).toBe(spent);
});

const conflict = error(409, 'CONFLICT');
test.each([
  ['a b c d a', { b: unknown, d: conflict }, '3 of 5 subjects found, 1 failed, 400 CU', 0],
  ['b', { b: unknown }, '0 of 1 subject found, 200 CU', 3],
  ['a b --strict', { b: unknown }, '1 of 2 subjects found, 300 CU', 10],
])('lookups print a record for each subject, in order, and count them: %s', async (...row) => {
  const [line, answers, outcome, exit] = row;
  const ran = await lookUp(line, answers);
  const subjects = line.replace(' --strict', '').split(' ');
  const found = subjects.map((subject) => ({ a: true, b: false, c: true, d: null })[subject]);
  expect(ran.records().map((record) => record['subject'])).toEqual(subjects);
  expect(ran.records().map((record) => record['found'])).toEqual(found);
  expect([ran.exitCode, ran.said], ran.stderr).toEqual([exit, expect.stringContaining(outcome)]);
});

test('lookups that a limit ends print what is known, and name the others', async () => {
  const { run } = await openDesk();
  await run(['whois', 'solwolf']);
  const many = Array.from({ length: 59 }, (_, at) => `n${at}`);
  // More subjects than are looked up at the same time are between the known ones.
  const between = many.slice(0, 19);
  const words = ['whois', 'mira', ...between, 'solwolf', '--max-cu', '200'];
  const ran = await run(words);
  expect([ran.exitCode, ran.error()['code']]).toEqual([6, 'CEILING']);
  expect(ran.records().map(({ subject }) => subject)).toEqual(['mira', 'solwolf']);
  expect(ran.stderr).toContain(`skipped 19 subjects: ${between.join(' ')}\n`);
  const long = await run(['whois', ...many, '--max-cu', '100']);
  const named = many.slice(0, 20).join(' ');
  expect(long.stderr).toContain(`skipped 59 subjects: ${named} and 39 more\n`);
});

test('lookups find what is cheap for all wallets before anything dear, and say what is known', async () => {
  const { sandbox, run } = await openDesk();
  const { solanaAddress = '' } = sandbox.world.user('mira') ?? {};
  const nobody = Array.from({ length: 20 }, (_, at) => `0x${`${at + 1}`.padStart(40, '0')}`);
  await run(['whois', 'mira']);
  const words = ['whois', ...nobody, `${solanaAddress}`, '--max-age', '1ms'];
  const remark = '21 wallets: 0 kept, 1 known, 20 unknown';
  expect((await run([...words, '--dry-run'])).stderr).toBe(`trdr: ${remark}\n`);
  const asked = await run(words, { tty: true, typed: ['n\n'] });
  expect(asked.said).toContain(`Looking up 21 subjects (${remark}) will cost`);
  const ran = await run([...words, '--max-cu', '400']);
  expect(ran.records()).toMatchObject([{ subject: solanaAddress, found: true, handle: 'mira' }]);
  expect([ran.exitCode, ran.error()['code']], ran.stderr).toEqual([6, 'CEILING']);
});

test('lookups print the answers before a failure that concerns all of them', async () => {
  const ran = await lookUp('a b c', { b: error(401, 'UNAUTHORIZED') });
  expect([ran.exitCode, ran.records()[0]?.['subject']], ran.stderr).toEqual([4, 'a']);
  expect(ran.stderr).not.toContain('skipped');
});
