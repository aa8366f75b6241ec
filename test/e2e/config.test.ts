import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { some } from '../repeats.ts';
import { type Home, openHome, runInProcess, startTrdr, withSandbox } from './harness.ts';

const fileOf = (home: Home) => join(home.config, 'config.json');
const configOf = (home: Home) => JSON.parse(readFileSync(fileOf(home), 'utf8'));
const withFile = (text: string): Home => {
  const home = openHome();
  mkdirSync(home.config);
  writeFileSync(fileOf(home), text);
  return home;
};

describe('trdr config', () => {
  test('sets, prints and unsets a setting', async () => {
    const home = openHome();
    expect((await home.run('config get confirmAbove')).stdout).toBe('100000\n');
    const set = await home.run('config set confirmAbove 1M');
    expect([set.exitCode, set.stdout, set.stderr]).toEqual([
      0,
      '',
      'trdr: Set confirmAbove in profile "default"\n',
    ]);
    expect((await home.run('config get confirmAbove')).stdout).toBe('1000000\n');
    expect((await home.run('config unset confirmAbove -q')).stderr).toBe('');
    expect((await home.run('config get confirmAbove')).stdout).toBe('100000\n');
  });

  test('prints an empty line for an unset setting, or a record in a machine format', async () => {
    expect((await runInProcess('config get baseUrl')).stdout).toBe('\n');
    expect((await runInProcess('config get baseUrl --json')).json()).toEqual({
      setting: 'baseUrl',
      value: null,
      origin: 'default',
    });
    expect(
      (await runInProcess('config get retries', { env: { TRDR_OUTPUT: 'ndjson' } })).records(),
    ).toEqual([{ setting: 'retries', value: 4, origin: 'default' }]);
    const tables = { env: { TRDR_OUTPUT: 'table' } };
    expect((await runInProcess('config get retries', tables)).stdout).toBe('4\n');
    expect((await runInProcess('config get retries -o table', tables)).lines()).toHaveLength(3);
  });

  test('lists the origin of each value: flag, environment, profile, default', async () => {
    const home = openHome();
    for (const [name, value] of [
      ['baseUrl', 'https://kept.example.com'],
      ['output', 'csv'],
      ['retries', '7'],
    ] as const) {
      await home.run(['config', 'set', name, value]);
    }
    const { records } = await runInProcess('config list --origin -o ndjson', {
      home,
      env: { TRDR_BASE_URL: 'https://env.example.com', TRDR_API_KEY: 'aa_live_0123456789abcdef' },
    });
    const rows = Object.fromEntries(
      records().map(({ setting, value, origin }) => [setting, [value, origin]]),
    );
    expect(rows).toMatchObject({
      profile: ['default', 'default'],
      key: ['aa_live_****cdef', 'TRDR_API_KEY'],
      baseUrl: ['https://env.example.com', 'TRDR_BASE_URL'],
      output: ['ndjson', '--output'],
      retries: [7, 'profile default'],
      maxAge: [3_600_000, 'default'],
    });
    expect((await home.run('config list --json')).json()).not.toHaveProperty('0.origin');
  });

  test('lists the settings of the store once there is one, or if they are set', async () => {
    const home = openHome();
    const listed = async (store?: string) => {
      const run = await runInProcess('config list', {
        home,
        env: store === undefined ? {} : { TRDR_STORE: store },
      });
      return run.records().map(({ setting }) => setting);
    };
    const ofStore = ['storePrefix', 'storeAway', 'machine', 'egress', 'storePassword'];
    expect((await listed()).filter((name) => ofStore.includes(String(name)))).toEqual([]);
    expect(await listed()).toContain('store');
    expect(await listed('redis://127.0.0.1:1')).toEqual(expect.arrayContaining(ofStore));
    expect((await home.run('config set machine desk')).exitCode).toBe(0);
    expect(await listed()).toContain('machine');
    expect((await home.run('config get storePrefix')).stdout).toBe('trdr\n');
  });

  test('warns if the environment overrides the setting', async () => {
    const { stderr } = await runInProcess('config set output csv', {
      env: { TRDR_OUTPUT: 'json' },
    });
    expect(stderr).toContain('TRDR_OUTPUT is set and overrides this value');
  });
});

describe('a process that is killed while it saves', () => {
  const key = 'trdr_live_0123456789abcdef0123456789abcdef';
  /** Counts the calls that Node makes to the file system after the first that names the config, and kills at one of them. */
  const hook = `const fs = require('node:fs');
let calls = 0;
for (const name of Object.keys(fs).filter((each) => /^[a-z]\\w+Sync$/.test(each))) {
  const call = fs[name];
  fs[name] = (...args) => {
    if ((calls > 0 || String(args[0]).includes('config.json')) && ++calls === Number(process.env.KILL_AT))
      process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}
process.on('exit', () => fs.writeFileSync('calls', String(calls)));
`;

  async function save(home: Home, killAt: number) {
    home.write('hook.cjs', hook);
    const env = { NODE_OPTIONS: '--require ./hook.cjs', KILL_AT: String(killAt) };
    const { signal } = await startTrdr('config set retries 7', { home, env });
    return signal;
  }

  function withKey(): Home {
    const home = withFile(JSON.stringify({ version: 1, profiles: { default: { key } } }));
    // An earlier version left its temporary file under this name.
    writeFileSync(join(home.config, 'config.json.tmp'), key);
    return home;
  }

  test('leaves no file with a key but the config, whatever the instant', async () => {
    const whole = withKey();
    expect(await save(whole, 0)).toBe(undefined);
    const instants = Number(readFileSync(join(whole.path, 'calls'), 'utf8'));
    expect(instants).toBeGreaterThan(20);
    const left: string[] = [];
    const all = Array.from({ length: instants }, (_, at) => at + 1);
    // The write itself is among the last instants, and is short.
    for (const at of [...some(all.slice(0, -20), 2), ...some(all.slice(-20), 5)]) {
      const home = withKey();
      expect(await save(home, at)).toBe('SIGKILL');
      left.push(...readdirSync(home.config));
      expect(configOf(home).profiles.default.key).toBe(key);
      await home.run('config set utc true');
      expect(configOf(home).profiles.default).toMatchObject({ key, utc: true });
      expect(readdirSync(home.config)).toEqual(['config.json']);
    }
    // Otherwise no kill hit the write itself.
    expect(left.filter((name) => /^config\.json\.tmp-/.test(name))).not.toEqual([]);
  });
});

describe('the config file', () => {
  test.each([
    [0o600, 'linux', ''],
    [0o644, 'linux', 'warning: other users can read the key in'],
    [0o640, 'linux', 'warning: other users can read the key in'],
  ] as const)('with a key, of mode %o on %s, is used: %j', async (mode, platform, warning) => {
    const sandbox = await withSandbox();
    const login = { key: sandbox.key, baseUrl: sandbox.url };
    const home = withFile(JSON.stringify({ version: 1, profiles: { default: login } }));
    chmodSync(fileOf(home), mode);
    const ran = await home.run('me', { platform });
    expect([ran.exitCode, ran.stderr.slice(6, 6 + warning.length)]).toEqual([0, warning]);
    expect(ran.stderr === '').toBe(warning === '');
    // The key of another source is not in the file.
    const other = await home.run('me', { platform, sandbox });
    expect([other.exitCode, other.stderr]).toEqual([0, '']);
    expect((await home.run('me -q', { platform })).stderr).toBe('');
  });

  test('has profiles of any permitted name', async () => {
    const home = openHome();
    const names = ['1', 'a.b', 'constructor', 'length', 'x@y-z'];
    for (const name of names) await home.run(['config', 'set', 'retries', '1', '--profile', name]);
    expect(Object.keys(configOf(home).profiles).sort()).toEqual(names);
    for (const name of names) await home.run(['config', 'unset', 'retries', '--profile', name]);
    expect(configOf(home).profiles).toEqual(Object.fromEntries(names.map((name) => [name, {}])));
  });

  test('loses nothing with concurrent writers', async () => {
    const home = openHome();
    const settings = {
      retries: '1',
      maxAge: '2h',
      confirmAbove: '3',
      maxCu: '4',
      timeout: '5s',
      utc: 'true',
    };
    const runs = Object.entries(settings).flatMap(([name, value]) => [
      home.run(['config', 'set', name, value]),
      home.run(['config', 'set', name, value, '--profile', `of-${name}`]),
    ]);
    for (const { exitCode, stderr } of await Promise.all(runs))
      expect([exitCode, stderr]).toMatchObject([0, {}]);
    const { profiles } = configOf(home);
    expect(Object.keys(profiles.default).sort()).toEqual(Object.keys(settings).sort());
    for (const name of Object.keys(settings))
      expect(Object.keys(profiles[`of-${name}`])).toEqual([name]);
    expect(readdirSync(home.config)).toEqual(['config.json']);
  });

  test.each([
    [
      'not JSON',
      '{"version":1,"profiles":{"default":{"key":"aa_live_0123456789abcdef",}}}',
      'CONFIG_CORRUPT',
    ],
    ['of another format', '{"version":1,"profiles":[]}', 'CONFIG_CORRUPT'],
    ['binary', '\0\u0001\u0002', 'CONFIG_CORRUPT'],
    ['newer', '{"version":2,"profiles":{}}', 'CONFIG_NEWER'],
  ])('that is %s is reported and never overwritten', async (_, text, code) => {
    const home = withFile(text);
    for (const argv of [
      'me',
      'config list',
      'config set retries 1',
      'auth login --with-key --no-verify --base-url https://a.example.com',
      'auth logout',
    ]) {
      const { exitCode, stderr, error } = await home.run(argv, {
        stdin: 'aa_live_0123456789abcdef',
      });
      expect([exitCode, error()['code']]).toEqual([9, code]);
      expect(error()['message']).toContain(fileOf(home));
      expect(error()['hint']).toBeTruthy();
      expect(stderr).not.toContain('0123456789ab');
    }
    expect(readFileSync(fileOf(home), 'utf8')).toBe(text);
    expect((await home.run('config path')).stdout).toBe(`${fileOf(home)}\n`);
  });

  test('that is a FIFO is rejected instead of waited for', async () => {
    const home = openHome();
    mkdirSync(home.config, { mode: 0o700 });
    await execa('mkfifo', [join(home.config, 'config.json')]);
    const { exitCode, error } = await home.run('config list');
    expect([exitCode, error()['code']]).toEqual([9, 'ENOTREG']);
    expect(error()['message']).toContain('it is not a regular file');
    expect((await home.run('config set retries 1')).exitCode).toBe(9);
    expect((await home.run(['__complete', 'profile', ''])).exitCode).toBe(0);
    expect(lstatSync(join(home.config, 'config.json')).isFIFO()).toBe(true);
  });

  test('with an invalid value stops other commands, but not those that fix it', async () => {
    const home = withFile('{"version":1,"profiles":{"default":{"retries":"many"}}}');
    const broken = await home.run('price me');
    expect([broken.exitCode, broken.error()['code']]).toEqual([2, 'BAD_SETTING']);
    expect(broken.error()['hint']).toContain('trdr config set retries VALUE');
    const list = await home.run('config list');
    expect(list.exitCode).toBe(0);
    expect(list.stderr).toContain(
      'invalid number for retries of profile "default": use a whole number',
    );
    expect((await home.run('config unset retries')).exitCode).toBe(0);
    expect((await home.run('price me')).exitCode).toBe(0);
  });

  test('keeps unknown members', async () => {
    const home = withFile(
      '\uFEFF{"version":1,"note":"mine","profiles":{"default":{"colour":"red"}}}',
    );
    await home.run('config set retries 2');
    expect(configOf(home)).toEqual({
      version: 1,
      note: 'mine',
      profiles: { default: { colour: 'red', retries: 2 } },
    });
  });

  test('needs a home directory or a configured folder', async () => {
    // A relative HOME counts as none. If HOME were unset, the system's user database would supply a home.
    const env = {
      HOME: 'nowhere',
      TRDR_CONFIG_DIR: undefined,
      TRDR_STATE_DIR: undefined,
      TRDR_CACHE_DIR: undefined,
    };
    for (const argv of ['config path', 'config set retries 1']) {
      const { exitCode, error } = await runInProcess(argv, { env });
      expect([exitCode, error()['code']]).toEqual([9, 'NO_HOME']);
      expect(error()['hint']).toContain('TRDR_CONFIG_DIR');
    }
    const free = await runInProcess('whois mira --sandbox', { env });
    expect(free.exitCode).toBe(0);
    expect(free.records()).toMatchObject([{ found: true }]);
  });
});
