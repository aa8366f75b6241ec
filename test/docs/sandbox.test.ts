import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandbox as command } from '../../src/cli/commands/sandbox.ts';
import { faultKinds, parseFaults } from '../../src/sandbox/faults/grammar.ts';
import { people } from '../../src/sandbox/world/people.ts';
import { openWorkspace, type Workspace } from '../e2e/shells.ts';
import { isSoak } from '../repeats.ts';
import { has } from '../tools.ts';
import { readPage } from './pages.ts';
import { runScript, syntaxOf } from './run.ts';

const page = readPage('docs/sandbox.md');
const blocks = (info: string) =>
  page.blocks.filter((block) => block.info === info).map(({ text }) => text);
const walk = blocks('sh walk');
const [start = '', end = ''] = [walk[0], walk.at(-1)];
/** Stops the service even if the script fails. */
const guarded = (...parts: string[]) =>
  [start, 'trap \'kill "$SANDBOX" 2> /dev/null || true\' EXIT\n', ...parts].join('');

describe('docs/sandbox.md', () => {
  it('names every handle that is in the data of each seed', () => {
    const text = page.text;
    const unnamed = people.filter(({ handle }) => !text.includes(`\`${handle}\``));
    expect(unnamed).toEqual([]);
  });

  let workspace: Workspace;
  beforeAll(() => {
    workspace = openWorkspace();
  });
  afterAll(() => workspace.close());

  it.skipIf(!has('curl'))('leads a client through the main calls', async () => {
    const { stdout, stderr, exitCode } = await runScript(guarded(...walk.slice(1)), workspace);
    expect([exitCode, stderr]).toEqual([0, '']);
    const steps = [
      '"ratePerMinute":600',
      '"handle":"mira"',
      '404',
      '"NOT_OBSERVED"',
      '"missing":["nobody_here"]',
      'x-service-resolve: cached',
      '"nextBefore"',
      '"period":"daily"',
      '"UNAUTHORIZED"',
      '"VALIDATION_ERROR"',
      '"NOT_FOUND"',
      '{"type":"ready"',
      '{"type":"subscription"',
      '{"type":"thesis"',
      '"unitsUsed"',
    ];
    // The parts must appear in this order.
    let at = 0;
    for (const step of steps) {
      expect(stdout.indexOf(step, at), `${step} in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(0);
      at = stdout.indexOf(step, at);
    }
    expect(stdout.match(/\{"type":"thesis"/g)?.length).toBeGreaterThanOrEqual(3);
  });

  const inSoak = isSoak ? it.skipIf(!has('wscat')) : undefined;
  inSoak?.('listens with wscat', async () => {
    const [block = ''] = blocks('sh wscat');
    expect(syntaxOf(block)).toBe('');
    // wscat exits at the end of its input, so keep the input open.
    const { stdout } = await runScript(guarded(`sleep 8 | ${block}`, end), workspace);
    expect(stdout).toContain('{"type":"subscription"');
    expect(stdout).toContain('{"type":"thesis"');
  });

  it('lists the faults as the program does', () => {
    expect(page.text).toContain('name[@where][+skip][*count][=chance[:time]]');
    for (const [name, { meaning }] of Object.entries(faultKinds)) {
      expect(page.text).toContain(`| \`${name}\` |`);
      expect(page.text).toContain(meaning);
    }
    const specs = [...page.text.matchAll(/--faults "([^"]+)"/g)].map(([, spec = '']) => spec);
    expect(specs.length).toBeGreaterThan(1);
    for (const spec of specs) expect(() => parseFaults(spec)).not.toThrow();
  });

  it('mentions only existing flags, and its reference lists them all', () => {
    const reference = readPage('docs/reference/sandbox.md').text;
    for (const option of Object.values(command.options))
      expect(reference).toContain(`--${option.name()}`);
  });
});
