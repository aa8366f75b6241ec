import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../core/server.ts';
import { openWorkspace, type Workspace } from '../e2e/shells.ts';
import { type Sandbox, startSandbox } from '../sandbox/service.ts';
import { freePort } from '../store/server.ts';
import { has } from '../tools.ts';
import { readPage } from './pages.ts';
import { missingFor, runScript, syntaxOf, tools } from './run.ts';

const page = readPage('docs/recipes.md');
const recipes = page.blocks.filter(({ info }) => info === 'sh recipe');
const titleOf = (line: number) =>
  page.text
    .split('\n')
    .slice(0, line)
    .findLast((each) => each.startsWith('## '))
    ?.slice(3) ?? '';
/** The tools and servers that a recipe needs and that are not installed. */
const missingOf = (script: string) => [
  ...missingFor(script),
  ...(script.includes('$REDIS_URL') && !has('redis-server') ? ['redis-server'] : []),
  ...(script.includes('$NATS_URL') && !has('nats-server') ? ['nats-server'] : []),
];

describe('docs/recipes.md', () => {
  const messages: { readonly path: string; readonly body: string }[] = [];
  const ran: string[] = [];
  const checked: string[] = [];
  const closing: (() => unknown)[] = [];
  let service: Sandbox;
  let workspace: Workspace;
  let env: Record<string, string>;

  /** Starts a server and waits for the line that says it is ready. */
  async function launch(file: string, words: readonly string[], ready: RegExp): Promise<string> {
    const child = spawn(file, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    closing.push(() => child.kill('SIGKILL'));
    let said = '';
    return new Promise((resolve, reject) => {
      const hear = (part: Buffer) => {
        said += part;
        const match = ready.exec(said);
        if (match) resolve(match[1] ?? '');
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', () => reject(new Error(`${file}: ${said}`)));
    });
  }

  beforeAll(async () => {
    service = await startSandbox({ plan: 'scale', rate: 300 });
    const hook = await serve((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        messages.push({ path: request.url ?? '', body });
        response.end('ok');
      });
    });
    env = {
      TRDR_BASE_URL: service.url,
      TRDR_API_KEY: service.key,
      WEBHOOK_URL: `${hook.url}/hook`,
      VECTOR_URL: `${hook.url}/vector`,
      CONNECT_URL: `${hook.url}/connect`,
      MAIL_TO: 'desk@example.test',
    };
    closing.push(() => hook.close());
    if (has('kcat')) {
      // librdkafka includes a test cluster, which runs as long as this producer waits for input.
      const words = ['-X', 'test.mock.num.brokers=1', '-P', '-b', '127.0.0.1:1', '-t', 'none'];
      env['KAFKA'] = await launch('kcat', words, /replaced with (\S+)/);
    }
    if (has('redis-server')) {
      const port = await freePort();
      await launch(
        'redis-server',
        ['--port', `${port}`, '--bind', '127.0.0.1', '--save', ''],
        /Ready to accept/,
      );
      env['REDIS_URL'] = `redis://127.0.0.1:${port}`;
    }
    if (has('nats-server')) {
      const port = await freePort();
      const folder = mkdtempSync(join(tmpdir(), 'trdr-nats-'));
      closing.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
      const words = ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', folder];
      await launch('nats-server', words, /Server is ready/);
      env['NATS_URL'] = `nats://127.0.0.1:${port}`;
    }
    workspace = openWorkspace(env);
    for (const name of ['mail', 'notify-send']) {
      const path = join(workspace.path, 'bin', name);
      const stdin = name === 'mail' ? 'cat' : ':';
      writeFileSync(
        path,
        `#!/bin/sh\n{ echo "$*"; ${stdin}; } >> '${workspace.path}/received-${name}'\n`,
      );
      chmodSync(path, 0o755);
    }
    const devs = setInterval(() => {
      const post = service.post();
      service.post({ ...post, id: randomUUID(), authorIsDev: true, holdingsUsd: 25_000 });
    }, 500);
    closing.push(() => clearInterval(devs));
  });
  afterAll(async () => {
    for (const close of closing) close();
    await service.close();
    workspace.close();
    process.stdout.write(`recipes run: ${ran.join(', ')}\n`);
    process.stdout.write(`checked only by bash -n: ${checked.join(', ') || 'none'}\n`);
  });

  it('has recipes for every tool', () => {
    const text = recipes.map((recipe) => recipe.text).join('');
    for (const tool of [...tools, 'mail', 'notify-send']) expect(text).toContain(tool);
  });

  it.each(recipes.map(({ line, text }) => [`${titleOf(line)} (line ${line})`, text] as const))(
    'works as written: %s',
    async (name, text) => {
      expect(syntaxOf(text)).toBe('');
      const missing = missingOf(text);
      if (missing.length > 0) return void checked.push(`${name} without ${missing.join(' and ')}`);
      const before = messages.length;
      const { cwd, stdout, stderr, exitCode } = await runScript(text, workspace);
      expect(
        [exitCode, stderr.split('\n').filter((line) => line.includes('error'))],
        stderr,
      ).toEqual([0, []]);
      const came = stdout.length + readdirSync(cwd).length + messages.length - before;
      const isQuiet =
        text.includes('kcat') || text.includes('notify-send') || text.includes('me --min-units');
      expect(came > 0 || isQuiet, `${name} printed nothing`).toBe(true);
      ran.push(name);
    },
  );

  it('delivers posts to webhooks, chats, mail, queues and streams', async () => {
    const hasRun = (title: string) => ran.filter((name) => name.startsWith(title)).length;
    const bodies = (path: string) =>
      messages.filter((each) => each.path === path).map(({ body }) => body);
    const rowsOf = (text: string) =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    const posted = bodies('/hook').flatMap(rowsOf);
    if (hasRun('A webhook') > 0)
      expect(posted.filter(({ id }) => id).length).toBeGreaterThanOrEqual(3);
    if (hasRun('A dev') > 0)
      expect(posted).toContainEqual(
        expect.objectContaining({ authorIsDev: true, holdingsUsd: 25_000 }),
      );
    const chat = posted.filter(
      ({ text }) => text !== undefined && !String(text).startsWith('trdr:'),
    );
    if (hasRun('Slack') > 0) expect(chat.length).toBeGreaterThanOrEqual(3);
    for (const { text } of chat) expect(text).toMatch(/^\*[^<>]+\* on [^<>]+: [^<>]*$/s);
    if (hasRun('Vector') > 0) {
      expect(bodies('/vector').flatMap(rowsOf).length).toBe(3);
      expect(bodies('/connect/theses').flatMap(rowsOf).length).toBe(3);
    }
    const received = (name: string) =>
      readFileSync(join(workspace.path, `received-${name}`), 'utf8');
    if (hasRun('Mail') > 0) {
      expect(received('mail')).toMatch(/^-s 3 new theses desk@example\.test$/m);
      expect(received('mail').match(/^- @/gm)?.length).toBe(3);
    }
    if (hasRun('Desktop') > 0)
      expect(received('notify-send').match(/^-a trdr -- New thesis /gm)?.length).toBe(3);
    if (hasRun('Redis') > 0) {
      const { stdout } = await runScript('redis-cli -u "$REDIS_URL" XLEN theses', workspace);
      expect(stdout).toBe('3');
    }
    if (hasRun('NATS') > 0) {
      const { stdout } = await runScript(
        'nats --server "$NATS_URL" stream info theses --json',
        workspace,
      );
      expect(JSON.parse(stdout).state.messages).toBe(3);
    }
    // There are two recipes, but only the first one runs without jq.
    for (const topic of ['theses', 'theses-by-token'].slice(0, hasRun('Kafka'))) {
      const { stdout } = await runScript(`kcat -C -b "$KAFKA" -t ${topic} -e -q`, workspace);
      const ids = stdout.split('\n').map((line) => JSON.parse(line).id);
      expect(new Set(ids).size).toBe(3);
    }
  });

  it('has a working setup', async () => {
    const [setup] = page.blocks.filter(({ info }) => info === 'sh setup');
    const script = `trap 'kill $!' EXIT\n${setup?.text}trdr me --fields plan\n`;
    const { stdout, exitCode } = await runScript(script, openPlain());
    expect([exitCode, JSON.parse(stdout).plan.name]).toEqual([0, 'Growth']);
  });

  /** A workspace without a service. */
  function openPlain(): Workspace {
    const plain = openWorkspace();
    closing.push(plain.close);
    return plain;
  }
});
