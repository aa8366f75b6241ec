import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../e2e/feed.ts';
import type { Workspace } from '../e2e/shells.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { createStoreServer } from '../store/server.ts';
import { has } from '../tools.ts';
import { allPages, readPage } from './pages.ts';
import { openMachine } from './run.ts';

/** What a page lets cron or systemd run: nobody sees it fail, and the machine interrupts it at any time. */
const blocks = allPages().flatMap(({ path, blocks }) =>
  blocks.map((block) => ({ path, ...block })),
);
const crons = blocks.filter(({ info }) => info === 'cron');
const units = blocks.filter(({ info }) => info === 'ini');

const settingsOf = (unit: string) =>
  [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, ...pair]) => pair as [string, string]);
const nightly =
  readPage('docs/exports.md').blocks.find(({ text }) => text.includes('/nightly-pnl\n'))?.text ??
  '';

/** A machine on which a recipe is installed, and its service. */
async function openInstalled(more: Readonly<Record<string, string>> = {}) {
  const machine = await openMachine({ theses: 2_000 }, more);
  const { path } = machine.workspace;
  for (const name of ['traders.txt', 'handles.txt'])
    writeFileSync(join(path, name), 'mira\nsolwolf\n');
  writeFileSync(join(path, 'bin/nightly-pnl'), nightly, { mode: 0o755 });
  return machine;
}

/** Starts a line as cron and systemd do: with `sh`, in the home, without a terminal. */
function start(
  line: string,
  { path, env }: Workspace,
  more: Readonly<Record<string, string>> = {},
) {
  const child = execa('/bin/sh', ['-c', line], {
    ...{ cwd: path, env: { ...env, ...more }, extendEnv: false },
    ...{ stdin: 'ignore', reject: false, detached: true },
  });
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  onTestFinished(() => kill('SIGKILL'));
  return { ended: child, kill };
}

const CALLS = ['numbers', 'theses', 'launchpad'];
const onCalls = (fault: string, time = '') => CALLS.map((group) => `${fault}@${group}${time}`);

/** How the first run ends: faults of the service, and a signal while a call is in flight. */
const interruptions = {
  'a kill': { faults: onCalls('stall'), signal: 'SIGKILL' },
  'a shutdown': { faults: onCalls('delay', '=500ms'), signal: 'SIGTERM' },
  'a night without the service': { faults: onCalls('500'), signal: undefined },
} as const;

/** Runs a line until it is interrupted, and returns its exit code; undefined if it was killed. */
async function interrupt(
  line: string,
  { faults, signal }: (typeof interruptions)[keyof typeof interruptions],
  { service, workspace }: { readonly service: Sandbox; readonly workspace: Workspace },
  env: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  service.faults.set(faults.join());
  const { ended, kill } = start(line, workspace, env);
  if (signal) {
    await until(() => Object.values(service.faults.triggered).some((times) => times > 0));
    kill(signal);
  }
  const { exitCode } = await ended;
  service.faults.set('');
  return exitCode;
}

describe('a job of cron, or a timer of systemd', () => {
  const jobs = [
    ...crons.flatMap(({ path, text }) => {
      const env = Object.fromEntries(settingsOf(text).filter(([name]) => name !== 'PATH'));
      const lines = [...text.matchAll(/^(?:[\d*/,-]+ +){5}([^%\n]+)$/gm)].map(
        ([, line = '']) => line,
      );
      return lines.map((line) => ({ path, line, env }));
    }),
    ...units.flatMap(({ path, text }) => {
      const settings = new Map(settingsOf(text));
      const line = settings.get('ExecStart')?.replace('/usr/local/bin/', '') ?? '';
      const [name = '', value = ''] = settings.get('Environment')?.split('=') ?? [];
      return settings.get('Type') === 'oneshot' ? [{ path, line, env: { [name]: value } }] : [];
    }),
  ];

  test('is found on the pages', () => {
    expect(jobs.length).toBeGreaterThan(4);
    expect(jobs.filter(({ line }) => !/trdr|nightly-pnl/.test(line))).toEqual([]);
  });

  test.each(jobs)('recovers from an interrupted run: $path, $line', async ({ line, env }) => {
    await Promise.all(
      Object.entries(interruptions).map(async ([how, interruption]) => {
        const machine = await openInstalled();
        const { workspace, service } = machine;
        // Otherwise, a night without the service takes as long as the retries.
        for (const profile of ['default', 'desk'])
          await start(`trdr config set retries 0 --profile ${profile} -q`, workspace).ended;
        const first = await interrupt(line, interruption, machine, env);
        expect([how, first]).not.toEqual([how, 0]);
        for (const night of ['the next run', 'the night after']) {
          const { exitCode, stdout, stderr } = await start(line, workspace, env).ended;
          // A mail of cron must mean that something went wrong, now or in the last run.
          const news = stderr
            .split('\n')
            .filter((said) => !/^(?:trdr: (?:resuming|the last run died) .*)?$/.test(said));
          expect([how, night, exitCode, stdout, news]).toEqual([how, night, 0, '', []]);
          if (night === 'the night after') expect(stderr).toBe('');
        }
        expect(filesOf(workspace).filter((name) => /\.(?:journal|lock)$/.test(name))).toEqual([]);
        for (const name of filesOf(workspace).filter(
          (name) => name.endsWith('pnl.csv') || name.includes('pnl/'),
        )) {
          const rows = readFileSync(join(workspace.path, name), 'utf8').trim().split('\n');
          expect([name, rows.length]).toEqual([name, 1 + 2 * 4]);
        }
        expect(service.log.length).toBeGreaterThan(0);
      }),
    );
  });
});

const filesOf = ({ path }: Workspace) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^(?:config|state|cache|bin)\//.test(name),
  );

describe('a unit of systemd', () => {
  const services = units
    .map(({ path, text }) => ({ path, text, settings: new Map(settingsOf(text)) }))
    .filter(({ settings }) => settings.get('Type') === 'notify');

  /** The command of a unit, with its folders on this machine. */
  function commandOf(settings: ReadonlyMap<string, string>, { path }: Workspace): string {
    const line = (settings.get('ExecStart') ?? '')
      .replace(/^\/usr\/local\/bin\//, 'exec ')
      .replaceAll('%h/', `${path}/`)
      .replaceAll(/(?<= )\/(?=var|run)/g, `${path}/`);
    for (const [, file = ''] of line.matchAll(/ (\/\S+)/g))
      mkdirSync(dirname(file), { recursive: true });
    return line;
  }
  const wordAfter = (line: string, flag: string) =>
    new RegExp(`${flag} (\\S+)`).exec(line)?.[1] ?? '';
  const isUp = (status: string) =>
    existsSync(status) && /^trdr_tail_ready\{.*\} 1$/m.test(readFileSync(status, 'utf8'));

  const idsIn = (text: string) =>
    text
      .split('\n')
      .filter((each) => each !== '')
      .map((each) => String(JSON.parse(each).id));

  test.each(services)(
    'restarts after a kill, with another key, without losing or repeating a post: $path',
    async ({ text, settings }) => {
      const isRelay = text.includes('thesis relay');
      if (isRelay && !has('redis-server')) return;
      const server = isRelay ? await createStoreServer() : undefined;
      if (server) onTestFinished(server.remove);
      const { service, workspace } = await openInstalled(server && { TRDR_STORE: server.url });
      const login =
        'trdr auth login --profile feed --with-key --no-verify --base-url "$TRDR_BASE_URL"';
      await start(`printf %s "$TRDR_API_KEY" | ${login}`, workspace).ended;
      for (const profile of ['default', 'feed'])
        await start(`trdr budget set day 100M --profile ${profile}`, workspace).ended;
      const line = commandOf(settings, workspace);
      const [out, status] = [wordAfter(line, '--out'), wordAfter(line, '--status')];
      const published = () =>
        isRelay
          ? Number(/^trdr_tail_rows_total\{.*\} (\d+)$/m.exec(readFileSync(status, 'utf8'))?.[1])
          : idsIn(existsSync(out) ? readFileSync(out, 'utf8') : '').length;
      const posted: string[] = [];
      const post = () => {
        for (let left = 5; left > 0; left--) posted.push(service.post().id);
      };
      // The feed of a store belongs to a key.
      const keys = [service.key, isRelay ? service.key : service.addKey({ plan: 'scale' })];
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        // The next start, not the last run, must say that it is up.
        writeFileSync(status, '');
        const { ended, kill } = start(line, workspace, { TRDR_API_KEY: keys.shift() ?? '' });
        await until(() => isUp(status));
        post();
        await until(() => published() >= (isRelay ? 5 : posted.length));
        kill(signal);
        expect((await ended).exitCode).toBe(signal === 'SIGTERM' ? 143 : undefined);
        // Posted while the unit is down.
        if (signal === 'SIGKILL') post();
      }
      const follow = 'trdr thesis tail --via store --since 1h --count 15 --fields id -q';
      const read = isRelay
        ? (await start(follow, workspace).ended).stdout
        : readFileSync(out, 'utf8');
      expect(idsIn(read).sort()).toEqual(posted.sort());
    },
  );

  test.skipIf(!has('systemd-analyze')).each(units)(
    'is accepted by systemd: $path, line $line',
    async ({ text }) => {
      const { workspace } = await openInstalled();
      const name = text.includes('OnCalendar=')
        ? 'pnl.timer'
        : text.includes('nightly-pnl')
          ? 'pnl.service'
          : 'trdr-it.service';
      const write = (file: string, unit: string) =>
        writeFileSync(
          join(workspace.path, file),
          unit.replaceAll('/usr/local/bin/', join(workspace.path, 'bin/')),
        );
      for (const { text: unit } of units)
        if (unit.includes('nightly-pnl')) write('pnl.service', unit);
      write(name, text);
      const { stderr } = await execa(
        'systemd-analyze',
        ['verify', '--man=no', join(workspace.path, name)],
        {
          reject: false,
        },
      );
      expect(stderr.split('\n').filter((line) => /trdr|pnl/.test(line))).toEqual([]);
      // A unit that `systemctl enable` cannot start at boot, unless a timer starts it.
      expect(text.includes('\n[Install]\n') || name === 'pnl.service').toBe(true);
    },
  );
});
