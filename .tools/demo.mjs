// Demonstrates trdr on the embedded service: no key, no network, and no files left behind.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bundle.mjs';

// The tests name a program that is built.
const { DEMO_PROGRAM: built } = process.env;
const program = built ?? join(root, 'bin/trdr.js');
if (built === undefined) await import('./build.mjs');

if (process.argv[2] === 'store') {
  const { demoStore } = await import('./demo-store.mjs');
  process.exit(await demoStore());
}

const home = mkdtempSync(join(tmpdir(), 'trdr-demo-'));
const env = { ...process.env };
for (const name of ['TRDR_PROFILE', 'TRDR_OUTPUT']) delete env[name];
for (const part of ['config', 'state', 'cache'])
  env[`TRDR_${part.toUpperCase()}_DIR`] = join(home, part);

const service = spawn(process.execPath, [program, 'sandbox', '--rate', '90', '--quiet'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const quit = () => service.kill();
process.on('SIGINT', quit);
process.on('exit', quit);

const bold =
  process.stdout.isTTY && !process.env.NO_COLOR
    ? (text) => `\x1b[1m${text}\x1b[22m`
    : (text) => text;
const print = (text) => process.stdout.write(`${text}\n`);

function show(why, line) {
  print(`\n# ${why}\n${bold(`$ trdr ${line}`)}`);
  const words = [program, ...line.split(' '), '-o', 'table'];
  const { status } = spawnSync(process.execPath, words, { env, stdio: 'inherit' });
  if (status !== 0) throw new Stopped(status ?? 1);
}

/** Thrown if a command failed or was interrupted; the command has already printed why. */
class Stopped extends Error {
  constructor(code) {
    super('stopped');
    this.code = code;
  }
}

try {
  const [line] = await once(service.stdout, 'data');
  const { url, key } = JSON.parse(String(line));
  Object.assign(env, { TRDR_BASE_URL: url, TRDR_API_KEY: key });
  print('trdr on its embedded service: invented traders, the real rules and prices.');
  show('Look up a handle: 100 CU', 'whois mira');
  show(
    'Look up its wallet: 0 CU, because the record above proves whose it is; the service asks 30,000 CU',
    'whois GXGxnQNeLLboiUqKykCDk9m6uaZFSA29V9DZLnCa84pW --fields handle,via',
  );
  show('See what became of her theses: 200 CU per 20', 'author mira --top 5');
  show('Compare traders', 'pnl mira quantumhawk Oracle28 --window 7d');
  show('Read the latest theses', 'thesis list --limit 4');
  show('Follow the feed for five seconds', 'thesis tail --duration 5s');
  show('See what this cost', 'usage');
  show('See what is left', 'me');
  print('\nTry it: node bin/trdr.js whois mira --sandbox, or node bin/trdr.js --help');
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  process.exitCode = error.code;
} finally {
  quit();
  // The service writes to the folder until it exits.
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
}
