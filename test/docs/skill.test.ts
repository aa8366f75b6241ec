import { afterAll, expect, it } from 'vitest';
import { preparedTexts } from '../../src/cli/docs/manual.ts';
import { exitCodes } from '../../src/cli/exit.ts';
import { runInProcess, trdr } from '../e2e/harness.ts';
import { openWorkspace } from '../e2e/shells.ts';
import { some } from '../repeats.ts';
import { startSandbox } from '../sandbox/service.ts';
import { missingFor, runScript } from './run.ts';

const { skill } = await preparedTexts();
const scripts = [...skill.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
  text.trim().split('\n\n'),
);

// One service for all scripts: with --sandbox, each start of the program would make its own.
const service = await startSandbox({ plan: 'scale' });
const workspace = openWorkspace({
  AI_AGENT: 'skill-test',
  TRDR_BASE_URL: service.url,
  TRDR_API_KEY: service.key,
});
afterAll(async () => {
  await service.close();
  workspace.close();
});

it('has at most 150 lines, a name and a description', () => {
  expect(skill.split('\n').length).toBeLessThanOrEqual(150);
  expect(skill).toMatch(/^---\nname: trdr\ndescription: [^\n:]{50,1024}\n---\n\n# trdr/);
});

it('is the same from the prepared file and from the program', async () => {
  expect((await trdr(['skill'])).stdout).toBe(skill);
  expect((await runInProcess(['skill'])).stdout).toBe(skill);
});

it('says what to do after each exit code', () => {
  const codes = [...skill.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, text = '']) =>
    text.split(', '),
  );
  expect(codes).toEqual(Object.keys(exitCodes));
});

it('has examples', () => expect(scripts.length).toBeGreaterThan(10));

for (const script of some(scripts, 2))
  it.skipIf(missingFor(script).length > 0).concurrent(
    `runs in the sandbox: ${script}`,
    async () => {
      // Tails end sooner here.
      const brief = script.replace(/--duration \w+/g, '--duration 1s');
      const handles = "printf 'mira\\nsolwolf\\nnobody\\n' > handles.txt\n";
      const { exitCode, stdout, stderr } = await runScript(handles + brief, workspace);
      expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('"error"')]);
      if (!/ tail | --out /.test(brief)) expect(stdout).not.toBe('');
    },
  );
