import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { openPromise } from '../../src/base/calls.ts';
import { some } from '../repeats.ts';
import { has } from '../tools.ts';
import { openHome, programEnv, withSandbox } from './harness.ts';
import type { InProcessOptions } from './in-process.ts';
import { program } from './program.ts';
import { userRecord, withService } from './service.ts';

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const count = (text: string, part: string) => text.split(part).length - 1;

interface Terminal {
  readonly url: string;
  readonly key: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of `stty`; by default, the terminal has no size. */
  readonly size?: string;
  /** What is done after the start; by default, only the end is awaited. */
  readonly dialog?: string;
}

/** Runs a command line on a pseudo-terminal. `RESULT` in the output is what Tcl's `wait` returns. */
function onTerminal(
  line: string,
  { url, key, env = {}, size = 'columns 0 rows 0', dialog }: Terminal,
) {
  const home = openHome();
  const script = `set timeout 60
    set stty_init {${size}}
    spawn -noecho ${process.execPath} ${program} ${line}
    ${dialog ?? 'expect eof'}
    puts "RESULT [wait]"`;
  return execa('expect', ['-c', script], {
    env: {
      ...programEnv({ sandbox: { url, key }, home }),
      LANG: 'C.UTF-8',
      TERM: 'xterm',
      ...env,
    },
    extendEnv: false,
    cwd: home.path,
    reject: false,
    stdin: 'ignore',
  });
}

/** A service that answers the first handle at once, and the others when `answer` is called. */
async function withSlowService() {
  const waiting: (() => void)[] = [];
  let isReleased = false;
  const { url } = await withService(async ({ path }) => {
    const handle = path.split('/').at(-1) ?? '';
    if (handle !== 'first' && !isReleased) await new Promise<void>((done) => waiting.push(done));
    return { body: userRecord(handle) };
  });
  return {
    url,
    key: 'trdr_test_0123456789abcdef0123456789abcdef',
    answer() {
      isReleased = true;
      for (const done of waiting) done();
    },
  };
}

/** What is left when the frames are taken away: the output, and no part of the line. */
const withoutFrames = (text: string): string =>
  stripVTControlCharacters(
    text.replace(/\x1b\[\?2026h[\s\S]*?\x1b\[\?2026l|\x1b\[1G\x1b\[0K/g, ''),
  );

/** A sandbox behind a service that holds every call until `answer` is called. */
async function withHeldSandbox() {
  const sandbox = await withSandbox();
  const held = openPromise();
  const { url } = await withService(
    async ({ method, path, request }) => {
      await held.promise;
      const body = method === 'POST' ? Buffer.concat(await request.toArray()) : undefined;
      const answer = await fetch(`${sandbox.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${sandbox.key}`, 'content-type': 'application/json' },
        ...(body && { body }),
      });
      return { status: answer.status, body: await answer.json() };
    },
    { ownMe: true },
  );
  return { url, key: sandbox.key, answer: held.resolve };
}

describe.skipIf(!has('expect'))('the progress line', () => {
  test('is drawn while a run waits, and cleared before its rows', async () => {
    const service = await withSlowService();
    const child = onTerminal('whois first second third --no-cache', {
      ...service,
      size: 'columns 80 rows 24',
    });
    child.stdout.on('data', (part: Buffer) => {
      if (SPINNER.test(String(part))) service.answer();
    });
    const { stdout } = await child;
    expect(stripVTControlCharacters(stdout)).toMatch(/looking up/);
    expect(stdout).toMatch(SPINNER);
    expect(count(stdout, BEGIN)).toBe(count(stdout, END));
    // The cursor is not hidden, because a kill would leave it so.
    expect(stdout).not.toContain('\x1b[?25l');
    const rows = withoutFrames(stdout);
    expect(rows).toMatch(/first[\s\S]*second[\s\S]*third/);
    expect(rows).not.toMatch(SPINNER);
    expect(stdout).toMatch(/RESULT \d+ \S+ 0 0/);
  });

  test('Ctrl-C ends the run at every instant, and leaves no part of the line behind', async () => {
    const service = await withSlowService();
    const tries = some(
      Array.from({ length: 25 }, (_, at) => at),
      3,
    );
    const ends = new Set<string>();
    let drawn = 0;
    const one = async (at: number) => {
      // The first waits for the paid calls that are in flight, so it is repeated until the run has ended.
      const dialog = `after ${at * 80}
        send \\003
        set timeout 1
        expect {
          timeout { send \\003; exp_continue }
          eof {}
        }`;
      const { stdout } = await onTerminal('whois first second third --no-cache', {
        ...service,
        size: 'columns 80 rows 24',
        dialog,
      });
      ends.add(/RESULT \d+ \S+ 0 (.*)/.exec(stdout)?.[1] ?? stdout);
      expect(stdout).not.toContain('\x1b[?25l');
      // The terminal drops what it has not printed yet at Ctrl-C, but nothing after that.
      if (!SPINNER.test(stdout)) return;
      drawn++;
      expect(stdout.slice(stdout.lastIndexOf('\x1b[0K'))).not.toMatch(SPINNER);
    };
    for (let at = 0; at < tries.length; at += 5)
      await Promise.all(tries.slice(at, at + 5).map(one));
    // Node ends by the signal itself until the program has started.
    for (const end of ends) expect(end.trim()).toMatch(/^(130|0 CHILDKILLED SIGINT .*)$/);
    expect(ends).toContain('130');
    expect(drawn).toBeGreaterThan(0);
  });
});

/** Runs a command line in this process, as on a terminal; `drawn` is all that was written to stderr. */
async function drawnBy(words: readonly string[], options: InProcessOptions) {
  let drawn = '';
  const onStderr = (text: string) => {
    drawn += text;
    options.onStderr?.(text);
  };
  const ran = await openHome().run(words, {
    ...{ tty: true, ...options, onStderr },
    env: { LANG: 'C.UTF-8', TERM: 'xterm', ...options.env },
  });
  return { ...ran, drawn };
}

const waits: readonly (readonly [line: string, expected: RegExp])[] = [
  ['me', /units left/],
  ['thesis list --limit 3 -o ndjson', /tokenSymbol/],
  ['launchpad callouts --limit 3 -o json', /createdAt/],
  ['launchpad board --top 3', /1 /],
  ['pnl mira', /7d/],
  ['pnl mira solwolf', /mira[\s\S]*solwolf/],
  ['resolve mira --no-wait', /mira/],
  ['doctor', /drift/],
  ['api /v2/user/handle/mira --yes', /"handle"/],
];

test('the progress line is drawn by every command that waits', async () => {
  const services = await Promise.all(waits.map(() => withHeldSandbox()));
  const draw = async ([line, expected]: (typeof waits)[number], at: number) => {
    const { answer, ...sandbox } = services[at] ?? expect.unreachable();
    const ran = await drawnBy(line.split(' '), {
      sandbox,
      onStderr: (text) => SPINNER.test(text) && answer(),
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.drawn, line).toMatch(SPINNER);
    expect(count(ran.drawn, BEGIN), line).toBe(count(ran.drawn, END));
    expect(ran.stdout).toMatch(expected);
    expect(withoutFrames(ran.drawn), line).not.toMatch(SPINNER);
    expect(withoutFrames(ran.drawn), line).not.toContain('waiting for');
  };
  await Promise.all(waits.map(draw));
});

test('the progress line is not drawn where it cannot be, or need not be', async () => {
  const sandbox = await withSandbox({ faults: 'delay=1500ms' });
  const draw = async (flags: string[], options: InProcessOptions) => {
    const ran = await drawnBy(['whois', 'mira', 'solwolf', ...flags], { sandbox, ...options });
    expect([options, SPINNER.test(ran.drawn), ran.drawn.includes(BEGIN)]).toEqual([
      ...[options, false, false],
    ]);
    expect([ran.exitCode, ran.stdout]).toEqual([0, expect.stringMatching(/mira[\s\S]*solwolf/)]);
  };
  await Promise.all([
    draw([], { columns: 0 }),
    draw(['--quiet'], {}),
    draw([], { env: { CI: 'true' } }),
    draw([], { env: { TERM: 'dumb' } }),
  ]);
});
