// Demonstrates three machines on one key: one paid feed, one budget, and a leader that is killed. Needs redis-server.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from './bundle.mjs';

const program = join(root, 'bin/trdr.js');
const server = process.env.STORE_SERVER ?? 'redis-server';
const bold =
  process.stdout.isTTY && !process.env.NO_COLOR
    ? (text) => `\x1b[1m${text}\x1b[22m`
    : (text) => text;
const print = (text) => process.stdout.write(`${text}\n`);
const headline = (text) => print(`\n# ${text}`);

/** Thrown if the demo cannot continue; the message states why. */
class Stopped extends Error {}

/** Runs the demo; returns its exit code. */
export async function demoStore() {
  if (spawnSync(server, ['--version']).status !== 0) {
    print(`this demo needs ${server}: apt-get install redis-server`);
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'trdr-demo-'));
  const children = [];
  const quit = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('SIGINT', () => process.exit(130));
  process.once('exit', quit);
  try {
    await play(folder, children);
    return 0;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    print(error.message);
    return 1;
  } finally {
    quit();
    const running = children.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    await Promise.all(running.map((child) => once(child, 'exit')));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(folder, children) {
  const start = (file, words, options) => {
    const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    children.push(child);
    return child;
  };
  const socket = join(folder, 'store.sock');
  const settings =
    '--port 0 --save --appendonly yes --maxmemory 64mb --maxmemory-policy noeviction';
  const store = start(server, [
    ...settings.split(' ').flatMap((word) => (word === '--save' ? [word, ''] : word)),
    '--unixsocket',
    socket,
    '--dir',
    folder,
  ]);
  await lineOf(store.stdout, /Ready to accept|accept connections at/);
  const service = start(process.execPath, [program, 'sandbox', '--rate', '120'], {
    env: process.env,
  });
  const { url, key } = JSON.parse(await lineOf(service.stdout, /^\{/));

  /** Creates a machine with its own folders. */
  const machine = (name) => {
    const env = {
      ...process.env,
      TRDR_BASE_URL: url,
      TRDR_API_KEY: key,
      TRDR_STORE: `unix:${socket}`,
      TRDR_MACHINE: name,
    };
    for (const unset of ['TRDR_PROFILE', 'TRDR_OUTPUT']) delete env[unset];
    for (const part of ['config', 'state', 'cache'])
      env[`TRDR_${part.toUpperCase()}_DIR`] = join(folder, name, part);
    return {
      name,
      show(line) {
        print(bold(`${name}$ trdr ${line}`));
        const { status } = spawnSync(process.execPath, [program, ...line.split(' ')], {
          env,
          stdio: 'inherit',
        });
        if (status !== 0) throw new Stopped(`trdr ${line} exited with ${status}`);
      },
      start(line) {
        print(bold(`${name}$ trdr ${line.replaceAll(`${folder}/`, '')} &`));
        const child = start(process.execPath, [program, ...line.split(' ')], { env });
        createInterface(child.stderr).on('line', (text) =>
          print(`  ${name}: ${text.replace(/^(?:\S+ )?trdr: /, '')}`),
        );
        return child;
      },
    };
  };
  const [one, two, three] = ['one', 'two', 'three'].map(machine);

  headline('Three machines share a store: the first look-up pays, the others get the answer');
  one.show('budget set day 500k');
  for (const each of [one, two, three])
    each.show('whois mira -o ndjson --fields subject,solanaAddress');

  headline('Two relays: one leads the feed, the other stands by');
  const leader = one.start('thesis relay --via poll --lag 1s --yes');
  await said(leader, /leading this feed/);
  const second = two.start('thesis relay --via poll --lag 1s --yes');
  await said(second, /standing by/);

  headline('Two followers read the feed from the store for 0 CU');
  const files = ['two.ndjson', 'three.ndjson'].map((name) => join(folder, name));
  const followers = [two, three].map((each, at) =>
    each.start(`thesis tail --via store --out ${files[at]}`),
  );
  await until(() => files.every((file) => idsOf(file).length >= 5), 30_000);
  one.show('store status -o table');

  headline('The leader is killed; the other relay takes over after ten seconds');
  const before = idsOf(files[0]).length;
  const leads = said(second, /leading this feed/);
  leader.kill('SIGKILL');
  await leads;
  await until(() => files.every((file) => idsOf(file).length >= before + 10), 30_000);
  three.show('store status -o table');

  headline('Everything was paid once, within one budget');
  for (const each of [...followers, second]) {
    each.kill('SIGTERM');
    await once(each, 'exit');
  }
  three.show('usage --store --by machine -o table');
  three.show('budget show -o table');
  const [first, last] = files.map(idsOf);
  const shared = first.filter((id) => last.includes(id));
  const from = Math.max(first.indexOf(shared[0]), 0);
  const same =
    first.slice(from, from + shared.length).join() ===
    last.slice(last.indexOf(shared[0])).slice(0, shared.length).join();
  const once_ = new Set(first).size === first.length && new Set(last).size === last.length;
  if (!same || !once_) throw new Stopped('the followers have different posts');
  print(`\nBoth followers have the same ${shared.length} posts in the same order, each once.`);
}

/** Waits for a line that matches, and returns it. */
async function lineOf(stream, pattern) {
  for await (const line of createInterface(stream)) if (pattern.test(line)) return line;
  throw new Stopped('a process ended before it was ready');
}

/** Waits until a process has written a text that matches to stderr. */
const said = (child, pattern) =>
  new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (part) => {
      text += part;
      if (pattern.test(text)) resolve();
    });
    child.once('exit', () => reject(new Stopped(`a relay ended: ${text}`)));
  });

async function until(holds, ms) {
  for (const end = Date.now() + ms; !holds(); await delay(100)) {
    if (Date.now() > end) throw new Stopped('no posts arrived in time');
  }
}

function idsOf(path) {
  try {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line).id);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
