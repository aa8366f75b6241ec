import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { exitCodes } from '../../src/cli/exit.ts';
import type { SandboxOptions } from '../sandbox/service.ts';
import { openDesk, openHome, type RunOptions, runInProcess, trdr, withSandbox } from './harness.ts';
import { withService } from './service.ts';

const NOBODY = '11111111111111111111111111111111';
const standing = { reason: 'queued', retryable: true, retryAfterSeconds: 30, position: 4 };

interface More extends Pick<RunOptions, 'key' | 'env'> {
  /** Faults of the free call `me`, in the fault syntax. */
  readonly faults?: string;
  readonly input?: string;
  readonly sandbox?: SandboxOptions;
}
type Case = readonly [exit: number, what: string, words: string, code: string | null, more?: More];

const explore = { plan: 'explore', unitsUsed: 1_000 } as const;

const cases: readonly Case[] = [
  [0, 'a found subject', 'whois mira', null],
  [0, 'an empty list', `thesis list --token ${NOBODY}`, null],
  [0, 'no subjects at all', 'whois -', null, { input: '# nobody\n\n' }],
  [2, 'an unknown command', 'whose mira', 'USAGE'],
  ...['help', 'schema', 'price'].flatMap((command) =>
    ['constructor', '__proto__'].map(
      (name): Case => [2, 'a word that every object has', `${command} ${name}`, 'USAGE'],
    ),
  ),
  [2, 'a flag alone', '-q', 'USAGE'],
  [2, 'flags without a command', '--json --sandbox', 'USAGE'],
  [2, 'a timeout of 0s', 'me --timeout 0s', 'USAGE'],
  [2, 'an unknown flag', 'whois mira --jsn', 'USAGE'],
  [2, 'a flag without its value', 'thesis list --limit', 'USAGE'],
  [2, 'an invalid value of a flag', 'thesis list --limit 0', 'USAGE'],
  [2, 'a missing word', 'whois', 'USAGE'],
  [2, 'too many words', 'me mira', 'USAGE'],
  [2, '--speed without a recording', 'sandbox --speed 10x', 'USAGE'],
  [2, 'an unknown field', 'whois mira --fields handel', 'USAGE'],
  [2, 'an unknown format', 'whois mira -o xml', 'USAGE'],
  [2, 'a socket together with the store', 'thesis tail --via ws --fill', 'USAGE'],
  [2, 'a folder as input', 'whois --file .', 'USAGE'],
  [2, 'a handle with spaces', "whois 'mira juno'", 'BAD_SUBJECT'],
  [2, 'an empty subject', "whois ''", 'BAD_SUBJECT'],
  [2, 'a handle in place of an id', 'whois mira --as id', 'BAD_SUBJECT'],
  [2, 'a part of an address', 'launchpad callouts --coin 0x12', 'USAGE'],
  [2, 'an empty command', "thesis tail --exec ''", 'USAGE'],
  [2, 'an invalid setting', 'config set maxAge soon', 'BAD_SETTING'],
  [2, 'an invalid variable', 'whois mira', 'BAD_SETTING', { env: { TRDR_OUTPUT: 'xml' } }],
  [2, 'two formats', 'whois mira -o csv --json', 'USAGE'],
  [2, 'a group without a command', 'thesis', 'USAGE'],
  [2, 'a stretch that ends first', 'launchpad history --since 2d --until 3d', 'USAGE'],
  [2, 'very many snapshots', 'launchpad history --since 365d --every 1s', 'USAGE'],
  [2, 'a missing file', 'whois --file nowhere.txt', 'USAGE'],
  [2, 'a mistyped address', 'whois 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee', 'BAD_SUBJECT'],
  [2, 'a 400', 'thesis list --before no-such-thesis', 'VALIDATION_ERROR'],
  [2, 'plain http beyond loopback', 'me --base-url http://service.example', 'INSECURE_HTTP'],
  [3, 'an unknown handle', 'whois nobody_at_all', null],
  [3, 'several unknown handles', 'whois nobody_a nobody_b', null],
  [3, 'an unknown symbol', 'token NOSUCH', 'UNKNOWN_SYMBOL'],
  [4, 'no key', 'whois mira', 'NO_KEY', { key: null }],
  [4, 'a wrong key', 'whois mira', 'UNAUTHORIZED', { key: 'trdr_test_wrong' }],
  [5, 'a missing scope', 'whois mira', 'FORBIDDEN_SCOPE', { sandbox: { scopes: ['feed:read'] } }],
  [6, 'no units left', 'thesis list', 'QUOTA_EXCEEDED', { sandbox: { monthlyUnits: 100 } }],
  [6, 'no reveals left', 'whois mira', 'REVEAL_LIMIT_REACHED', { sandbox: { revealsPerMonth: 0 } }],
  [6, 'a spending limit', 'whois mira --max-cu 50', 'CEILING'],
  [6, 'fewer units than required', 'me --min-units 20000001', 'UNITS_LOW'],
  // The units of this plan do not begin again with a month.
  [6, 'a smaller share', 'me --min-units 100%', 'UNITS_LOW', { sandbox: explore }],
  [7, 'a 429 with a longer wait than the timeout', 'me', 'RATE_LIMITED', { faults: '429=200s' }],
  [9, 'a service that fails', 'me --retries 0', 'INTERNAL_ERROR', { faults: '500' }],
  [9, 'a connection that breaks', 'me --retries 1', 'BROKEN', { faults: 'reset' }],
  [9, 'a truncated body', 'me --retries 0', 'BROKEN', { faults: 'cut' }],
  [9, 'a missing answer', 'me --retries 0 --timeout 200ms', 'NO_ANSWER', { faults: 'stall' }],
  [9, 'a gate that cannot be decided', 'me --min-units 1', 'BAD_ANSWER', { faults: 'shape' }],
  [9, 'nobody listening', 'me --retries 0 --base-url http://127.0.0.1:9', 'UNREACHABLE'],
  [10, '--strict with one missing', 'whois mira nobody_at_all --strict', 'STRICT'],
  [11, 'no terminal to confirm', 'whois -', 'CONFIRMATION_NEEDED', { input: wallets(5) }],
];

/** Distinct Solana addresses. */
function wallets(count: number): string {
  return Array.from({ length: count }, (_, index) => `${'1'.repeat(31)}${index + 2}`).join('\n');
}

/** Command lines that are rejected, and a part of the message or the hint. */
const rejected: readonly (readonly [line: string, says: string])[] = [
  ['thesis tail --batch 3', '--batch requires --exec'],
  ['thesis tail --linger 3s', '--linger requires --exec'],
  ['thesis tail --tries 3', '--tries requires --exec'],
  ['thesis tail --exec cat --out x.ndjson', '--exec and --out cannot be combined'],
  ['thesis tail --exec cat -o csv', '--exec hands over NDJSON, not csv'],
  ['thesis tail --exec cat --batch 0', '--batch'],
  ['thesis tail --no-follow --via ws', '--no-follow cannot be combined with --via ws'],
  ['thesis tail --via store --group desk', 'it was removed: read with --via store'],
  ['thesis tail --shared', 'it was removed: read'],
  ['verify theses.ndjson --sample 5', 'it was removed: the certificate proves the lines'],
  ['thesis tail posts.ndjson', '--replay'],
  ['thesis tail --speed 2x', '--replay'],
  ['thesis tail --replay posts.ndjson --checkpoint c', '--checkpoint'],
  ['thesis tail --replay posts.ndjson --no-follow', '--no-follow'],
  ['thesis tail --replay posts.ndjson --via store', '--via cannot be used with --replay'],
  ['thesis tail --replay posts.ndjson --fill', '--fill cannot be used with --replay'],
  ['thesis tail --replay posts.ndjson --lag 5s', '--lag cannot be used with --replay'],
  ['launchpad tail --replay posts.ndjson --lag 5s', '--lag cannot be used with --replay'],
  ['thesis tail --fill --via poll', '--fill requires --via store or --via auto, not --via poll'],
  ['thesis tail --via store --lag 5s', '--lag cannot be combined with --via store'],
  ['thesis tail --confluence 1/5m', '3/10m'],
  ['thesis tail --confluence 3', '3/10m'],
  ['thesis tail --confluence 3/10m --rotate 1d --out x.ndjson', '--rotate'],
  ['thesis tail --no-follow --json', 'cannot be a JSON document'],
  ['thesis tail --status a.ndjson --out a.ndjson', 'are the same file'],
  ['thesis tail --out b.csv', 'ndjson'],
  ['thesis tail --out b.ndjson --fields thesis', 'id'],
  ['thesis tail --status none/a.prom', 'folder not found'],
  ['thesis tail --heartbeat 0s', 'duration'],
  ['thesis tail --cooldown tokenAddress', 'invalid'],
  ['thesis tail --cooldown tokenAddress/8d', 'invalid'],
  ['thesis tail --cooldown tokenAdress/1h', 'unknown field "tokenAdress" for --cooldown'],
  ['thesis tail --cooldown authorId/1h --confluence 3/1h', 'unknown field "authorId"'],
  ['thesis tail --cooldown tokenAddress/1h --out a.ndjson --rotate 1h', '--rotate'],
  ['thesis tail --log-format xml', 'xml'],
  ['thesis tail --token a;b', 'separate tokens by commas'],
  ['launchpad tail --rotate 1d', '--rotate requires --out'],
  ['launchpad tail --rotate 100 --out a.ndjson', '100MB'],
  ['thesis list --limit 1 --bom', '--bom requires CSV, but the output is ndjson'],
  ['thesis list --sort qqqqqq', 'choose from '],
  ['thesis list --sort tokenSymbl', 'Did you mean tokenSymbol?'],
  ['thesis list --token SPUD;KOALA', '--symbol'],
  ['thesis list --user mira;solwolf', 'write only one, such as mira'],
  ['thesis list --symbol SPUD;KOALA', '--symbol SPUD,KOALA'],
  ['launchpad callouts --coin a;b', 'write only one'],
  ...['callouts --coin', 'callouts --wallet', 'tail --coin', 'tail --wallet'].map(
    (words) =>
      [
        `launchpad ${words} 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee`,
        'invalid checksum',
      ] as const,
  ),
  [
    'launchpad callouts --coin 11111111111111111111111111111111 --wallet 11111111111111111111111111111112',
    "'--wallet <address>' cannot be used with",
  ],
  ['launchpad callers', 'no caller given'],
  ['launchpad callers --top 3', '--top requires --board'],
  ['launchpad callers --board weekly mira', '--board cannot be combined with callers'],
  ['launchpad callers --board weekly --file a.txt', '--board cannot be combined with callers'],
  ['launchpad history', 'such as --since 30d'],
  ...[
    ...[
      'thesis list',
      'thesis list --from x.ndjson',
      'thesis tail',
      'thesis tail --replay x.ndjson',
    ],
    ...['author mira', 'token SPUD', 'launchpad callouts', 'launchpad tail', 'launchpad history'],
    ...['verify x.ndjson', 'usage'],
  ].map((line) => [`${line} --since 2999-01-01`, '--since must be in the past'] as const),
  ['launchpad history --since 1d --resume', 'add the file of the export'],
  ['launchpad board --column wallet', '--column requires --wallets'],
  ['launchpad board --changed', '--changed requires --compare'],
  ['launchpad board --compare 2999-01-01', '--compare must be in the past'],
  ['launchpad board --compare 2020-01-02 --at 2020-01-01', 'pass an earlier time to --compare'],
  ['api https://other.example/v2/me?limit=2', 'trdr api /v2/me?limit=2'],
  ['api GET', "missing required argument 'path'"],
  ['api', "missing required argument 'path'"],
  ['api /v2/me GET', 'before the path'],
  ['api POST /x --paginate', 'remove --paginate'],
  ['api /x -f limit', '-f limit=50'],
  ['api GET /x more', 'too many arguments'],
  ['pnl mira --compare - --file -', 'only one of the handles, --from and --compare'],
  ['pnl --from x.csv --out y.csv --resume', 'cannot be used with'],
  ['pnl --from x.csv --out y.csv --fresh', 'cannot be used with'],
  ['pnl --from x.csv --out y.csv --no-cache', 'cannot be used with'],
  ['pnl --from x.csv --out y.csv --max-age=1h', 'cannot be used with'],
  ['store clear cache thesis', 'only "feed" takes a name'],
  ['store clear feed', 'store clear feed NAME'],
  ['store clear feeds thesis', 'choose from cache, feed, all'],
  ...['author', 'token'].flatMap((name) =>
    ['--no-cache', '--max-age=1h'].map(
      (flag) => [`${name} --from x.ndjson ${flag}`, 'cannot be used with'] as const,
    ),
  ),
  ['token', "'token'"],
  ['token KOALA,SPUD', 'expected one token'],
  ['token 11111111111111111111111111111111 --sort nothing', 'for --sort'],
  ['token 11111111111111111111111111111111 --all --limit 3', 'cannot be'],
  ['pnl mira solwolf --top 3', '--sort'],
  ['pnl mira solwolf --reverse', '--sort'],
  ['pnl mira solwolf --limit 3 --sort rank --resume --out x.csv', '--resume'],
  ['pnl mira --changed', '--changed requires --compare'],
  ['whois mira --history --no-cache', 'cannot be used with'],
  ['pnl mira --only up', '--only requires --compare'],
  ['budget set day 5k --machine a', '--machine requires a store'],
  ['budget set day much', 'much'],
  ['budget set week 5k', 'week'],
  ['usage --reconcile --since 1d', '--reconcile'],
  ['usage --by hour', 'hour'],
  ['usage --by agent --store', '--store'],
  ...[
    ...['store status', 'store check', 'store clear all', 'usage --store', 'thesis relay'],
    ...['store login redis://127.0.0.1:1 --no-verify', 'auth login --with-key', 'auth logout'],
    ...['auth switch default', 'config set retries 1', 'config unset retries'],
    ...['budget set day 500k', 'budget unset day'],
  ].map((line) => [`${line} --sandbox`, 'remove --sandbox'] as const),
  ...['set key x', 'unset key'].map(
    (line) => [`config ${line}`, 'save a key with "trdr auth login"'] as const,
  ),
  ...['set storePassword x', 'unset storePassword'].map(
    (line) => [`config ${line}`, 'run "trdr store login URL" and type the new password'] as const,
  ),
  ['config unset profile', 'trdr auth switch'],
  ['config set maxage 1h', 'Did you mean maxAge?'],
  ['config set -- retries -1', 'from 0 to 100'],
  ['config set output xml', 'choose from table, ndjson'],
  ['config set baseUrl ftp://a.example.com', 'it must start with https://'],
  ['config set baseUrl https://user:secret@a.example.com', 'it contains a user name or password;'],
  ...['soon', '0', '30d'].map((time) => [`config set timeout ${time}`, 'from 1ms to 24h'] as const),
  ['config set maxCu 1,5M', 'invalid amount for maxCu'],
  ['config set utc yes', 'choose from true, false'],
  ['config set socketShare 200%', 'invalid share'],
  ['config get retrys', 'Did you mean retries?'],
  ['config unset nothing', 'available settings: baseUrl, output'],
  ['config set profile x', 'trdr auth switch'],
  ['config set retries', 'trdr config set --help'],
  ['config lst', 'Did you mean list?'],
  ['config list --profile none', 'no profiles are saved yet'],
  ['config unset retries --profile none', 'no profiles are saved yet'],
  ['price user.walet', 'user.wallet'],
  ['price api', 'the price list has no calls of "trdr api"'],
  ['price config set', 'the price list has no calls of "trdr config set"'],
  ['schema whos', 'whois'],
  ['schema launchpad', 'launchpad board'],
];

test.each(rejected)('"trdr %s" is rejected before anything is sent: %s', async (line, says) => {
  const { sandbox, home, run } = await openDesk();
  const ran = await run(line);
  const { message, hint } = ran.error();
  expect([ran.exitCode, sandbox.log, existsSync(home.config)]).toEqual([2, [], false]);
  expect(`${message}; ${hint}`).toContain(says);
});

describe('trdr exits', () => {
  const rows = cases.map(([exit, what, words, code, more = {}]) => ({
    exit,
    what,
    words,
    code,
    more,
  }));
  test.each(rows)('$exit after $what', async ({ exit, what, words, code, more }) => {
    const { faults, sandbox: options, ...run } = more;
    const sandbox = await withSandbox({
      ...options,
      ...(faults !== undefined && { faults: faults.replace(/^\w+/, '$&@account') }),
    });
    // One case of a result, of a miss and of an error starts the program itself.
    const isFirst =
      [0, 3, 9].includes(exit) && cases.find(([other]) => other === exit)?.[1] === what;
    const { input, ...rest } = run;
    const ran = isFirst
      ? await trdr(words, { sandbox, ...run })
      : await runInProcess(words, { sandbox, ...rest, stdin: input });
    expect([ran.exitCode, ran.stderr === '' ? null : ran.error()['code']], ran.stderr).toEqual([
      exit,
      code,
    ]);
    if (code === null) return;
    expect(ran.error()['exit']).toBe(exit);
    expect(ran.error()['hint'], 'every error says what to do next').toMatch(/\S/);
    // Local errors do not cost anything.
    if (exit === 2 || exit === 4 || exit === 11) expect(sandbox.meter().totalUnits).toBe(0);
  });

  test('1 after a bug, which it reports', async () => {
    const { run } = await openDesk();
    const clock = {
      ...systemClock,
      now() {
        throw new TypeError('no time');
      },
    };
    const ran = await run('whois mira', { clock });
    expect(ran.error()).toMatchObject({ exit: 1, code: 'BUG', message: 'no time' });
  });

  test.each([
    [{ code: 'EIO', path: '/data/x' }, 'cannot access /data/x: the disk reported an error'],
    [{ code: 'ENOENT', syscall: 'uv_cwd' }, 'cannot access the current folder: it does not exist'],
  ])('9, not 1, after an unexpected failure of the file system: %j', async (fields, message) => {
    const { run } = await openDesk();
    const clock = {
      ...systemClock,
      now() {
        throw Object.assign(new Error(`${fields.code}: raw text`), fields);
      },
    };
    const ran = await run('whois mira', { clock });
    expect(ran.error()).toMatchObject({ exit: 9, code: fields.code, message: message });
  });

  test('8 if a resolve has no answer yet, and 10 with --strict', async () => {
    const service = await withService(({ method }) =>
      method === 'POST'
        ? { status: 202, body: { pending: true, ...standing } }
        : { status: 404, body: { error: { code: 'NOT_OBSERVED', message: '' } } },
    );
    const ran = await runInProcess('resolve slowpoke --no-wait', { sandbox: service });
    expect(ran.records()).toEqual([
      { subject: 'slowpoke', found: false, code: 'PENDING', ...standing },
    ]);
    expect([ran.exitCode, ran.stderr]).toEqual([8, '']);
    const strict = await runInProcess('resolve slowpoke --no-wait --strict', {
      sandbox: service,
    });
    expect(strict.error()).toMatchObject({
      exit: 10,
      message: '0 missing, 1 without an answer yet, 0 failed, 0 found',
    });
  });

  test('only with documented codes', () => {
    const tested = new Set([...cases.map(([exit]) => exit), 1, 8, 129, 130, 143]);
    expect([...tested].sort((a, b) => a - b)).toEqual(Object.keys(exitCodes).map(Number));
  });

  test('2 for an invalid command line, before reading settings', async () => {
    const home = openHome();
    home.write('config', 'a file where a folder should be');
    const ran = await home.run('whois mira --nonsense');
    expect([ran.exitCode, ran.error()['code']]).toEqual([2, 'USAGE']);
  });
});
