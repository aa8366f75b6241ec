import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { longName } from '../../src/cli/args/option.ts';
import { sandbox as command } from '../../src/cli/commands/sandbox.ts';
import { faultHelp, parseFaults } from '../../src/sandbox/faults/grammar.ts';
import { faultKinds } from '../../src/sandbox/faults/kinds.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readPage } from './pages.ts';
import { type Desk, isInstalled, openDesk, runScript, syntaxOf } from './run.ts';

vi.setConfig({ testTimeout: 120_000 });

const page = readPage('docs/sandbox.md');
const blocks = (info: string) => page.blocks.filter((block) => block.info === info).map(({ text }) => text);
const walk = blocks('sh walk');
const [start = '', end = ''] = [walk[0], walk.at(-1)];
/** Ends the service whatever happens in between. */
const guarded = (...parts: string[]) =>
  [start, 'trap \'kill "$SANDBOX" 2> /dev/null || true\' EXIT\n', ...parts].join('');

describe('docs/sandbox.md', () => {
  let desk: Desk;
  beforeAll(() => {
    desk = openDesk();
  });
  afterAll(() => desk.close());

  it('walks a plain client through the main calls', async () => {
    const { stdout, stderr, exitCode } = await runScript(guarded(...walk.slice(1)), desk);
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
      '"totalUnits"',
    ];
    // Each of them behind the one before, as the page tells it.
    let at = 0;
    for (const step of steps) {
      expect(stdout.indexOf(step, at), `${step} in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(0);
      at = stdout.indexOf(step, at);
    }
    expect(stdout.match(/\{"type":"thesis"/g)).toHaveLength(3);
  });

  it('listens with wscat, where there is one', async () => {
    const [block = ''] = blocks('sh wscat');
    expect(syntaxOf(block)).toBe('');
    // It ends with its input: off a terminal that has to stay open.
    if (!isInstalled('wscat')) return;
    const { stdout } = await runScript(guarded(`sleep 8 | ${block}`, end), desk);
    expect(stdout).toContain('{"type":"subscription"');
    expect(stdout).toContain('{"type":"thesis"');
  });

  it('steers a sandbox by control calls', async () => {
    const lines = blocks('sh control').join('');
    const { stdout, exitCode } = await runScript(guarded(lines, end), desk);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('{"spec":"500@user.handle*2"}');
    expect(stdout).toMatch(/\{"now":\d+\}/);
  });

  it('names every control call with everything that it takes, and no other', async () => {
    const service = await startSandbox({ traders: 10, theses: 0 });
    try {
      const call = async (verb: string, body = '{}') => {
        const response = await fetch(`${service.url}/_sandbox/${verb}`, { method: 'POST', body });
        return { status: response.status, text: await response.text() };
      };
      const { text } = await call('nothing');
      const verbs = /The operations are ([\w, ]+)\./.exec(text)?.[1]?.split(', ') ?? [];
      const rows = [...page.text.matchAll(/^\| `(\w+)` \| ((?:`\w+`(?:, )?)*) ?\| /gm)];
      expect(rows.map(([, verb]) => verb).sort()).toEqual(verbs.sort());
      for (const [, verb = '', takes = ''] of rows) {
        for (const [, name] of takes.matchAll(/`(\w+)`/g)) {
          // A value that no member can have: what is known is refused, what is not known is not looked at.
          const { status, text: said } = await call(verb, JSON.stringify({ [name ?? '']: { no: 'such' } }));
          expect([verb, name, status, said.includes(name ?? '')]).toEqual([verb, name, 400, true]);
        }
      }
    } finally {
      await service.close();
    }
  });

  it('tells the faults as the program does', () => {
    const [form = ''] = faultHelp().split(', separated by commas');
    expect(page.text).toContain(form);
    for (const [name, { meaning }] of Object.entries(faultKinds)) {
      expect(page.text).toContain(`| \`${name}\` |`);
      expect(page.text).toContain(meaning);
    }
    const specs = [...page.text.matchAll(/--faults "([^"]+)"/g)].map(([, spec = '']) => spec);
    expect(specs.length).toBeGreaterThan(1);
    for (const spec of specs) expect(() => parseFaults(spec)).not.toThrow();
  });

  it('names no flag that the command lacks, and its reference has them all', () => {
    const reference = readPage('docs/reference/sandbox.md').text;
    for (const option of Object.values(command.options)) expect(reference).toContain(`--${longName(option)}`);
  });
});
