import { describe, expect, test } from 'vitest';
import { agentVariables } from '../../src/cli/agent.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { some } from '../repeats.ts';
import type { SandboxOptions } from '../sandbox/service.ts';
import { openDesk, runInProcess, withSandbox, wordsOf } from './harness.ts';

const wallets = Array.from({ length: 5 }, (_, index) => `${'1'.repeat(31)}${index + 2}`);

describe('an expensive run', () => {
  const ask = ['whois', '--direct', ...wallets];

  test.each([
    ['n\n', 11],
    ['\n', 11],
    ['maybe\n', 11],
    ['yesterday\n', 11],
    ['\u0004', 11],
    ['y\n', 3],
    ['YES\n', 3],
  ])('requires confirmation on a terminal: %j exits %i', async (typed, exit) => {
    const { sandbox, run } = await openDesk();
    const ran = await run(ask, { tty: true, typed: [typed] });
    expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([exit, exit === 3 ? 1_000 : 0]);
    expect(ran.said).toContain(
      'Looking up 5 subjects will cost 1,000–150,000 CU (20.0M CU left). Continue? [y/N]',
    );
    expect(ran.stderr.includes('cancelled; nothing was charged')).toBe(exit === 11);
  });

  test('does not result from lost answers of an unconfirmed run', async () => {
    for (const words of [
      ['whois', '--direct', wallets[0] ?? ''],
      ['api', `/v2/user/wallet/${wallets[0]}`],
      ['pnl', 'mira'],
    ]) {
      const sandbox = await withSandbox({ faults: 'lost' });
      const address = sandbox.world.user('mira')?.solanaAddress ?? '';
      const line = words.map((word) => word.replace(wallets[0] ?? '', address));
      const ran = await runInProcess(line, { sandbox, clock: virtualClock() });
      expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([6, 90_000]);
      expect(ran.error()).toMatchObject({
        code: 'CEILING',
        hint: expect.stringContaining('--yes'),
      });
    }
  });

  test('includes the attempts of a resolve', async () => {
    const asked = async (...flags: string[]) => {
      const { home, run } = await openDesk();
      await home.run('config set confirmAbove 1000');
      const ran = await run(['resolve', 'slowpoke', ...flags], { tty: true, typed: ['n\n'] });
      return /Resolving 1 handle will cost (?:.*–)?([\d,]+) CU/.exec(ran.stderr)?.[1];
    };
    expect(await asked('--no-wait')).toBe('30,200');
    expect(await asked('--direct', '--no-wait')).toBe('30,000');
    // While it waits, the program makes at most ten attempts in each started minute, for 200 CU each.
    expect(await asked()).toBe('32,200');
    expect(await asked('--wait', '90s')).toBe('34,200');
  });

  test('reports each wait over two seconds of a resolve', async () => {
    const said = async (handle: string, ...flags: string[]) => {
      const words = ['resolve', handle, '--wait', '30s', ...flags];
      return (await runInProcess(words, { sandbox: await withSandbox(), clock: virtualClock() }))
        .stderr;
    };
    expect(await said('slowpoke')).toMatch(
      /^trdr: slowpoke: queued, position \d+ in the queue; retrying in [3-9]s$/m,
    );
    expect(await said('slowpoke', '-q')).not.toContain('retrying in');
    expect(await said('throttled')).toMatch(
      /^trdr: throttled: the request was not accepted; retrying in \d+s$/m,
    );
  });

  test.each([
    ['no terminal to open', {}, 11],
    ['a terminal to open', { typedOnTerminal: 'y\n' }, 3],
    ['TRDR_NO_PROMPT', { typedOnTerminal: 'y\n', env: { TRDR_NO_PROMPT: '1' } }, 11],
    ['CI', { typedOnTerminal: 'y\n', env: { CI: 'true' } }, 11],
    ['an agent', { typedOnTerminal: 'y\n', env: { AI_AGENT: 'robot' } }, 11],
    ['stderr in a file', { typedOnTerminal: 'y\n', tty: false }, 11],
  ])('with stdin as a pipe and %s exits accordingly', async (_, given, exit) => {
    const { sandbox, run } = await openDesk();
    const stdin = wallets.join('\n');
    const ran = await run('whois -', { tty: { stderr: true }, stdin, ...given });
    expect([ran.exitCode, sandbox.meter().totalUnits > 0]).toEqual([exit, exit === 3]);
    if (exit === 11) expect(ran.stderr).toContain('CONFIRMATION_NEEDED');
  });

  test.each([
    [ask.slice(1), 1_000, 150_000],
    [['--direct', '--', ...wallets], 1_000, 150_000],
  ])('states what a person has to agree to: whois %j', async (words, cuAtLeast, cuAtMost) => {
    const { run } = await openDesk();
    const { approval } = (await run(['whois', ...words])).error();
    expect(approval).toMatchObject({ cuAtLeast, cuAtMost, left: 20_000_000 });
    const { command } = approval as { readonly command: string };
    const agreed = await run(wordsOf(command.replace(/^trdr /, '')));
    expect([agreed.exitCode, agreed.records()]).toEqual([3, expect.anything()]);
  });

  test('states that the cost of an unknown call is unknown', async () => {
    const { run } = await openDesk();
    const { approval } = (await run('api /v2/unheard/of')).error();
    expect(approval).toMatchObject({
      ...{ cuAtLeast: 0, cuAtMost: null, left: 20_000_000 },
      command: 'trdr api --yes /v2/unheard/of',
    });
  });

  test.each(some(Object.keys(agentVariables), 3))('an agent by %s cannot answer', async (name) => {
    const { sandbox, run } = await openDesk();
    const ran = await run(ask, { env: { [name]: '1' }, tty: true, typed: ['y\n'] });
    expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([11, 0]);
    expect(ran.said).toContain(
      'let them decide on --max-cu 150000, or set up a profile with a budget',
    );
    expect(ran.stderr).not.toContain('[y/N]');
  });

  test('an agent cannot answer at the limit of a run either, and its costs have its name', async () => {
    const { sandbox, home } = await openDesk();
    await home.run('config set confirmAbove 500');
    for (const [env, agent] of [
      [{ CLAUDECODE: '1' }, agentVariables['CLAUDECODE']],
      [{ AI_AGENT: 'desk-bot@2' }, 'desk-bot@2'],
    ] as const) {
      const terminal = { sandbox, home, env, tty: true, typed: ['y\n'] };
      const open = await runInProcess('thesis list --all', terminal);
      expect([open.exitCode, open.stderr.includes('[y/N]')]).toEqual([6, false]);
      const spent = await home.run('usage --by agent');
      expect(spent.records()).toContainEqual(expect.objectContaining({ agent, cu: 400 }));
    }
  });

  test.each(['', '0', 'false', 'off'])('with CLAUDECODE "%s", a person is asked', async (value) => {
    const { run } = await openDesk();
    const ran = await run(ask, { tty: true, typed: ['y\n'], env: { CLAUDECODE: value } });
    expect(ran.exitCode).toBe(3);
  });

  test('is free in the sandbox, and needs no confirmation', async () => {
    const ran = await runInProcess([...ask, '--sandbox'], {});
    expect([ran.exitCode, ran.lines().length]).toEqual([3, 5]);
  });

  test('spends up to --max-cu, and names what was skipped', async () => {
    const { sandbox, run } = await openDesk();
    const ran = await run([...ask, '--max-cu', '30300']);
    expect([ran.exitCode, ran.lines().length, sandbox.meter().totalUnits]).toEqual([6, 2, 400]);
    expect(ran.stderr).toContain(`trdr: skipped 3 subjects: ${wallets.slice(2).join(' ')}\n`);
    expect(ran.error()).toMatchObject({
      message:
        'the next call may cost 30,000 CU but only 29,900 CU of the spending limit (30,300 CU) remain',
      hint: 'raise --max-cu',
    });
  });

  test.each([
    [['--yes'], 3],
    [['-y'], 3],
    [['--max-cu', '150000'], 3],
    [['--max-cu', '150k'], 3],
    [['--max-cu', '100000'], 3],
    [['--max-cu', '149999'], 3],
    [[], 11],
  ])('without a terminal, %j exits %i', async (flags, exit) => {
    const { sandbox, run } = await openDesk();
    const ran = await run([...ask, ...flags]);
    expect([ran.exitCode, sandbox.meter().totalUnits > 0]).toEqual([exit, exit === 3]);
  });

  test.each([
    ['--yes', { monthlyUnits: 999 }, 'QUOTA_EXCEEDED', false],
    ['--yes', { monthlyUnits: 1_000 }, undefined, true],
    ['--yes', { monthlyUnits: 149_999 }, undefined, true],
    ['--yes', { monthlyUnits: 150_000 }, undefined, false],
    ['--yes', { revealsPerMonth: 4 }, undefined, true],
    ['--yes', { revealsPerMonth: 5 }, undefined, false],
    ['--yes', { unmetered: true }, undefined, false],
    // What is left need only cover --max-cu.
    ['--max-cu=500', { monthlyUnits: 499 }, 'QUOTA_EXCEEDED', false],
    ['--max-cu=500', { monthlyUnits: 600 }, 'CEILING', false],
  ])('with %s compares what is left, and asks me first: %j', async (flag, key, code, isWarned) => {
    const { sandbox, run } = await openDesk(key);
    const ran = await run([...ask, flag]);
    expect([ran.exitCode, code && ran.error()['code']]).toEqual([code ? 6 : 3, code]);
    expect(sandbox.log.map(({ endpoint }) => endpoint)[0]).toBe('me');
    expect(ran.stderr.includes(' left; ')).toBe(isWarned);
  });
});

describe('the cost line', () => {
  const last = (text: string) => text.trimEnd().split('\n').at(-1);

  test.each<[line: string, said: string, key?: SandboxOptions]>([
    ['thesis list --limit 3', '3 theses, 200 CU, 19.9M CU left'],
    ['launchpad callouts --limit 1', '1 callout, 10 CU, 19.9M CU left'],
    ['launchpad board --top 2', '2 entries, 10 CU, 19.9M CU left'],
    ['api /v2/thesis', '200 CU, 19.9M CU left'],
    ['pnl mira nobody', '1 of 2 subjects found, 30,200 CU, 19.9M CU left'],
    ['pnl mira nobody --out x.csv', '1 of 2 subjects found, 30,200 CU, 19.9M CU left'],
    ['whois cached', '1 of 1 subject found, 0 CU'],
    ['whois mira --sandbox', '1 of 1 subject found, 100 CU (sandbox)'],
    ['whois mira lost', '1 of 2 subjects found, 300–500 CU, 19.9M CU left'],
    ['whois @mira', '1 of 1 subject found, 100 CU', { unmetered: true }],
  ])('ends a run that paid, on a terminal: %s', async (line, said, key) => {
    const { sandbox, run } = await openDesk(key);
    const clock = virtualClock();
    if (line.includes('cached')) await run('whois mira', { clock });
    if (line.includes('lost')) sandbox.faults.set('lost@user.handle*1');
    const terminal = { tty: { stderr: true }, env: { LANG: 'C.UTF-8' }, clock };
    const ran = await run(line.replace('cached', 'mira'), terminal);
    expect([ran.exitCode, last(ran.stderr)]).toEqual([0, `trdr: ${said}`]);
  });

  test.each([
    ['thesis list', false],
    ['me', true],
    ['thesis list -q', true],
  ])('is absent without a terminal, a cost or notices: %j', async (words, stderr) => {
    const ran = await runInProcess(words, { sandbox: await withSandbox(), tty: { stderr } });
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  });

  test.each([
    ['does not answer', 'stall@me'],
    ['rejects the key', '401@me'],
  ])('omits what is left if the service %s when it is requested', async (_, faults) => {
    const { run } = await openDesk({ faults });
    const ran = await run('whois mira', { tty: { stderr: true } });
    expect([ran.exitCode, last(ran.stderr)]).toEqual([0, 'trdr: 1 of 1 subject found, 100 CU']);
  });

  test.each([
    ['off a terminal', 'whois mira', false],
    ['with --quiet', 'whois mira -q', true],
    ['for a cached answer', 'whois juno', true],
    // It reports its cost itself, and asks once at its start.
    ['for a tail', 'thesis tail --via poll --count 1 --backfill 1', true],
  ])('sends no request for what is left %s', async (_, line, stderr) => {
    const { sandbox, run } = await openDesk();
    await run('whois juno -q');
    const before = sandbox.log.length;
    await run(line, { tty: { stderr } });
    const asked = sandbox.log.slice(before).filter(({ endpoint }) => endpoint === 'me');
    expect(asked).toHaveLength(line.startsWith('thesis') ? 1 : 0);
  });

  test.each([
    [
      'thesis list --all --max-cu 500',
      /trdr: 40 theses, 400 CU, 19\.9M CU left\n.*error: stopped/s,
    ],
    ['thesis list --user nobody', /trdr: 0 theses, 200 CU, 19\.9M CU left\n.*error: no user/s],
  ])('states what is left after a run that failed: %s', async (words, expected) => {
    const ran = await runInProcess(words, {
      sandbox: await withSandbox(),
      tty: { stderr: true },
      env: { NO_COLOR: '1' },
    });
    expect(ran.stderr).toMatch(expected);
  });
});

describe('--dry-run', () => {
  test('has a row for each subject, also for those that cost nothing because they are cached', async () => {
    const { run } = await openDesk();
    await run('whois mira');
    for (const [words, paid] of [
      [['whois', 'mira'], []],
      [['whois', 'mira', 'juno'], ['/v2/user/handle/juno']],
    ] as const) {
      const plan = (await run([...words, '--dry-run', '-o', 'ndjson'])).records();
      expect(plan).toHaveLength(words.length - 1);
      expect(plan.filter(({ most }) => most !== 0).map(({ path }) => path)).toEqual(paid);
    }
  });

  test.each([
    [['whois', '--direct', 'mira', ...wallets], 6],
    [['resolve', 'mira', 'Mira', 'nobody'], 4],
    [['pnl', 'mira'], 1],
    [['pnl', 'mira', 'juno'], 1],
    [['thesis', 'list', '--user', 'mira', '--limit', '100'], 2],
    [['thesis', 'list', '--all'], 1],
    [['thesis', 'tail'], null],
    [['launchpad', 'user', ...wallets], 5],
    [['launchpad', 'callouts'], 1],
    [['launchpad', 'board', '--compare', '7d'], 2],
    [['launchpad', 'tail'], null],
    [['me'], 1],
    [['api', '/v2/thesis'], 1],
    [['doctor'], null],
    [['auth', 'login', '--base-url', 'https://desk.example.com'], 1],
    [['thesis', 'tail', '--no-follow'], null],
  ] as const)('sends nothing, and a tail at most the free me: %j', async (words, requests) => {
    const sandbox = await withSandbox();
    const ran = await runInProcess([...words, '--dry-run'], { sandbox });
    const asked = sandbox.log.map(({ path }) => path);
    const mayStream = words.join(' ') === 'thesis tail';
    expect([ran.exitCode, asked], ran.stderr).toEqual([0, mayStream ? ['/v2/me'] : []]);
    if (requests !== null) expect(ran.records()).toHaveLength(requests);
    expect(ran.lines().length).toBeGreaterThan(0);
    for (const record of ran.records()) {
      expect(record).toMatchObject({
        method: expect.any(String),
        path: expect.stringMatching(/^\//),
        least: expect.any(Number),
      });
      expect(record).toHaveProperty('most');
    }
    // These commands print no tables.
    if (words[0] === 'api' || words[0] === 'auth') return;
    expect((await runInProcess([...words, '--dry-run', '-o', 'table'], { sandbox })).exitCode).toBe(
      0,
    );
    expect(sandbox.log.filter(({ path }) => path !== '/v2/me')).toEqual([]);
  });
});

describe('--dry-run as a table', () => {
  const tableOf = async (...words: string[]) => {
    const ran = await runInProcess([...words, '--dry-run', '-o', 'table'], {
      sandbox: await withSandbox(),
    });
    return ran.stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  };

  test('has one row for equal calls, the total, and what is left', async () => {
    expect(await tableOf('whois', '--direct', 'mira', ...wallets)).toEqual([
      ['call', 'times', 'CU at least', 'at most', 'reveals'],
      expect.anything(),
      ['GET /v2/user/handle/mira', '1', '100', '200', '1'],
      ['GET /v2/user/wallet/{address}', '5', '1,000', '150,000', '5'],
      ['total', '1,100', '150,200', '6'],
      ['left now', '20,000,000', '50,000'],
      [''],
    ]);
  });

  test('prices a tail per minute, and in full for a known duration', async () => {
    expect((await tableOf('thesis', 'tail', '--user', 'mira')).slice(2, -1)).toEqual([
      ['GET /v2/user/handle/mira', '1', '100', '200', '1'],
      ['GET /v2/me', '1', '0', '0', '0'],
      ['GET /v2/thesis/user/{id}', '7/min', '1,400', '1,400', '0'],
      ['total', '100', '200', '1'],
      ['total per minute', '1,400', '1,400', '0'],
      ['left now', '20,000,000', '50,000'],
    ]);
    expect((await tableOf('thesis', 'tail')).slice(3, -1)).toEqual([
      ['GET /v2/ws', '1/min', '20,000', '20,000'],
      ['GET /v2/thesis?limit=20', '2/min', '400', '400'],
      ['total per minute', '20,400', '20,400'],
      ['left now', '20,000,000'],
    ]);
    // A page per poll, pages for a backfill, and the walk that verifies.
    const polls = ['launchpad', 'tail', '--duration', '1h', '--lag', '1m', '--backfill', '41'];
    expect((await tableOf(...polls)).slice(3, -1)).toEqual([
      ['GET /v2/launchpad/thesis', '143', '10', '1,430'],
      ['total', '10', '1,430'],
      ['left now', '20,000,000'],
    ]);
    // Every started minute of a socket counts, and the next one, which is reserved.
    const stream = await tableOf('thesis', 'tail', '--duration', '60001ms');
    expect(stream.slice(3, 5)).toEqual([
      ['GET /v2/ws', '3', '20,000', '60,000'],
      ['GET /v2/thesis?limit=20', '24', '200', '4,800'],
    ]);
  });

  test('needs neither a key nor a service', async () => {
    const ran = await runInProcess('pnl mira --dry-run -o table', {});
    expect([ran.exitCode, ran.stdout]).toEqual([0, expect.not.stringContaining('left now')]);
    const env = { TRDR_BASE_URL: 'http://127.0.0.1:9', TRDR_API_KEY: 'trdr_test_0123456789abcdef' };
    const away = await runInProcess('pnl mira --dry-run -o table --retries 0', {
      env,
    });
    expect([away.exitCode, away.stdout]).toEqual([0, expect.stringContaining('total')]);
  });
});

describe('a repeated subject', () => {
  test('is requested once per run, in any spelling', async () => {
    const { sandbox, run } = await openDesk();
    const ran = await run('whois mira @MIRA Mira nobody NOBODY mira --no-cache');
    expect([ran.lines().length, sandbox.meter().totalUnits]).toEqual([6, 300]);
  });

  test('is free within --max-age, also by id', async () => {
    const { sandbox, home } = await openDesk();
    const clock = virtualClock(Date.now());
    const run = (...words: string[]) => home.run(['whois', ...words], { sandbox, clock });
    await run('mira');
    const before = sandbox.log.length;
    await clock.sleep(59 * 60_000);
    const again = await run('MIRA', sandbox.world.user('mira')?.id ?? '');
    expect([again.exitCode, sandbox.log.length]).toEqual([0, before]);
    await clock.sleep(61_000);
    await run('mira');
    expect(sandbox.log.length).toBe(before + 1);
    await run('mira', '--max-age', '0s');
    expect(sandbox.log.length).toBe(before + 2);
    await run('mira', '--no-cache');
    expect(sandbox.log.length).toBe(before + 3);
  });

  test('is cached for five minutes after a miss', async () => {
    const { sandbox, home } = await openDesk();
    const clock = virtualClock(Date.now());
    const run = () => home.run('whois nobody', { sandbox, clock });
    await run();
    await clock.sleep(299_000);
    expect((await run()).exitCode).toBe(3);
    expect(sandbox.meter().totalUnits).toBe(200);
    await clock.sleep(1_000);
    await run();
    expect(sandbox.meter().totalUnits).toBe(400);
  });

  test.each(['500', 'NOT_FOUND', 'FORBIDDEN', '409', '400', 'shape', 'html', 'cut'])(
    'is not cached after an error: %s',
    async (fault) => {
      const { sandbox, run } = await openDesk({ faults: `${fault}@user.handle*1` });
      await run('whois mira --retries 0');
      const ran = await run('whois mira');
      expect([ran.exitCode, ran.records()[0]?.['found']]).toEqual([0, true]);
      expect(sandbox.log.filter(({ endpoint }) => endpoint === 'user.handle')).toHaveLength(2);
    },
  );

  test('is cached per base URL and key', async () => {
    const { sandbox, home, run } = await openDesk();
    await run('whois mira');
    const other = sandbox.addKey({});
    await run('whois mira', { key: other });
    await home.run('whois mira', { sandbox: await withSandbox() });
    expect(sandbox.log).toHaveLength(2);
  });
});

describe('a run without a known end', () => {
  const setUp = async () => {
    const { sandbox, home } = await openDesk({ theses: 100 });
    await home.run('config set confirmAbove 650');
    return { sandbox, home };
  };
  const list = ['thesis', 'list', '--all'];

  test('exits 6 at confirmAbove without a terminal, and the named command continues it', async () => {
    const { sandbox, home } = await setUp();
    const first = await home.run(list, { sandbox });
    expect([first.exitCode, first.lines().length, sandbox.meter().totalUnits]).toEqual([
      6, 60, 600,
    ]);
    expect(first.error()).toMatchObject({
      code: 'CEILING',
      message: 'stopped after 600 CU; there are more results',
    });
    const [, command = ''] = /continue with: trdr (.*)$/.exec(String(first.error()['hint'])) ?? [];
    const next = await home.run(command, { sandbox });
    const ids = [...first.records(), ...next.records()].map(({ id }) => id);
    expect([new Set(ids).size, ids.length]).toEqual([100, 100]);
  });

  test('states its limit and asks on a terminal, and continues if the user agrees', async () => {
    const { sandbox, home } = await setUp();
    const ran = await home.run(list, { sandbox, tty: { stderr: true }, typedOnTerminal: 'y\n' });
    expect([ran.exitCode, ran.lines().length]).toEqual([0, 100]);
    expect(ran.said).toContain(
      'total cost not known in advance; spending limit 650 CU (raise it with --max-cu)',
    );
    expect(ran.said).toContain(
      'This run has spent 600 CU of its limit of 650 CU (19.9M CU left). Continue up to 1,300 CU?',
    );
    await home.run('config set confirmAbove 300');
    const again = await home.run(list, { sandbox, tty: { stderr: true }, typedOnTerminal: 'y\n' });
    expect(again.said.match(/Continue up to \S+/g)).toEqual([
      'Continue up to 600',
      'Continue up to 1,200',
    ]);
  });

  test('ends if the user declines, with the rows that were paid for', async () => {
    const { sandbox, home } = await setUp();
    for (const sorted of [[], ['--sort', 'likeCount']]) {
      const given = { sandbox, home, tty: { stderr: true }, typedOnTerminal: 'n\n' };
      const ran = await runInProcess([...list, ...sorted], given);
      expect([ran.exitCode, ran.lines().length]).toEqual([6, 60]);
      expect(ran.stderr.match(/Continue up to/g)).toHaveLength(1);
    }
  });

  test('is not limited with --yes or in the sandbox', async () => {
    const { sandbox, home } = await setUp();
    for (const flag of ['--yes', '--sandbox']) {
      const ran = await home.run(['launchpad', 'callouts', '--all', flag, '-q'], { sandbox });
      expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    }
  });

  test('asks on the terminal if a tail writes to a pipe, and exits 6 if the user declines', async () => {
    const { sandbox, home } = await setUp();
    const words = ['thesis', 'tail', '--via', 'poll', '--lag', '100ms'];
    const ran = await home.run(words, { sandbox, tty: { stderr: true }, typedOnTerminal: 'n\n' });
    expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([6, 600]);
    expect(ran.said).toMatch(
      /This run has spent 600 CU of its limit of 650 CU \(19\.9M CU left; polling every 100ms costs 120,000 CU\/min, less with a longer --lag\)\. Continue up to 1,300 CU\?/,
    );
  });
});
