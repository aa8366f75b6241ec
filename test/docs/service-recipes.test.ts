import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { exitOf } from '../../src/cli/exit.ts';
import { readLine } from '../../src/cli/program/read-line.ts';
import { openFolder } from '../folder.ts';
import { isSoak } from '../repeats.ts';
import { has } from '../tools.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/recipes.md');
const blockOf = (language: string, start = ''): string => {
  const block = page.blocks.find(({ info, text }) => info === language && text.startsWith(start));
  if (!block) throw new Error(`docs/recipes.md has no ${language} block`);
  return block.text;
};

/** Fails if a command line is not valid for trdr. */
async function holdToCommand(words: readonly string[]): Promise<string> {
  const line = await readLine(words);
  if ('helpFor' in line) throw new Error(`no command in ${words.join(' ')}`);
  line.command.parse(line.parsed.args, line.parsed.flags as never);
  return line.command.path;
}

/** The user unit and the system unit of a tail, and the unit of a relay, with the values of their settings. */
const units = [...page.blocks, ...readPage('docs/store.md').blocks]
  .filter(({ info }) => info === 'ini')
  .map(
    ({ text }) =>
      new Map(
        [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
      ),
  );

describe('the systemd units', () => {
  test.each(units)('agree with the exit codes and the command line of trdr', async (settings) => {
    const words = (settings.get('ExecStart') ?? '').split(' ').slice(1);
    expect(['thesis tail', 'thesis relay']).toContain(await holdToCommand(words));
    const prevented = (settings.get('RestartPreventExitStatus') ?? '').split(' ').map(Number);
    const { usage, auth, forbidden, quota, limit, confirm } = exitOf;
    expect(prevented).toEqual([...new Set([usage, auth, forbidden, quota, limit, confirm])]);
    // Otherwise systemd treats these exit codes as failures, and a stopped tail would be "failed".
    expect(settings.get('SuccessExitStatus')).toBe('129 130 143');
    expect([settings.get('Type'), settings.get('NotifyAccess')]).toEqual(['notify', 'all']);
    expect([settings.get('KillMode'), settings.get('Restart')]).toEqual(['mixed', 'on-failure']);
    expect(settings.get('WantedBy')).toMatch(/^(?:default|multi-user)\.target$/);
    expect(words).toContain('--wait-for-budget');
  });

  test('of the system allow writing only the files that they need', () => {
    const [, system, relay] = units;
    const folders = (settings: typeof system) => [
      `/var/lib/${settings?.get('StateDirectory')}/`,
      `/run/${settings?.get('RuntimeDirectory')}/`,
    ];
    for (const settings of [system, relay]) {
      const words = `${settings?.get('Environment') ?? ''} ${settings?.get('ExecStart')}`.split(
        /[ =]/,
      );
      const files = words.filter((word) => word.startsWith('/'));
      expect(
        files.filter((file) => !folders(settings).some((folder) => file.startsWith(folder))),
      ).toEqual(['/usr/local/bin/trdr']);
      // Node needs writable and executable memory, because it compiles at run time.
      expect(settings?.has('MemoryDenyWriteExecute')).toBe(false);
    }
    const out = /--out (\S+)/.exec(system?.get('ExecStart') ?? '')?.[1];
    expect(blockOf('logrotate').startsWith(`${out} {`)).toBe(true);
    expect(system?.get('ExecReload')).toBe('kill -USR2 $MAINPID');
  });
});

test.skipIf(!has('logrotate'))('the logrotate file rotates as written', () => {
  const folder = openFolder();
  const [out, config] = [join(folder, 'theses.ndjson'), join(folder, 'trdr.conf')];
  const [told, bin] = [join(folder, 'told'), join(folder, 'systemctl')];
  writeFileSync(out, '{"id":"a"}\n');
  writeFileSync(bin, `#!/bin/sh\necho "$@" > ${told}\n`, { mode: 0o755 });
  writeFileSync(config, blockOf('logrotate').replace('/var/lib/trdr/theses.ndjson', out), {
    mode: 0o644,
  });
  const { stderr, exitCode } = execaSync(
    'logrotate',
    ['--force', '--state', join(folder, 'state'), config],
    {
      reject: false,
      env: { PATH: `${folder}:${process.env['PATH']}` },
    },
  );
  expect([exitCode, stderr]).toEqual([0, '']);
  const moved = readdirSync(folder).filter((name) => /^theses\.ndjson-\d{8}$/.test(name));
  expect(moved.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['{"id":"a"}\n']);
  // The tail creates the new file itself.
  expect(existsSync(out)).toBe(false);
  expect(readFileSync(told, 'utf8')).toBe('reload trdr-tail.service\n');
});

/** The probe of a status file, as docs/service.md states it. */
const probeOf = (status: string | undefined) => `find ${status} -mmin -1 | grep -q .`;

test('the probe tells a status file that is written from one that is not', () => {
  const path = join(openFolder(), 'theses.prom');
  const exitCode = () => execaSync('sh', ['-c', probeOf(path)], { reject: false }).exitCode;
  expect(readFileSync('docs/service.md', 'utf8')).toContain(`\n${probeOf('theses.prom')}\n`);
  expect(exitCode()).toBe(1);
  writeFileSync(path, '');
  expect(exitCode()).toBe(0);
  // `find` has the clock of the machine, which is not that of the test.
  const old = statSync(path).mtimeMs / 1_000 - 120;
  utimesSync(path, old, old);
  expect(exitCode()).toBe(1);
});

describe('the Dockerfile', () => {
  const lines = blockOf('dockerfile').trim().split('\n');
  const instructions = lines.map((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return { name, rest };
  });
  const argumentsOf = (name: string): string[] => {
    const { rest = '' } = instructions.find((each) => each.name === name) ?? {};
    return JSON.parse(/\[.*\]$/.exec(rest)?.[0] ?? 'null');
  };

  test('starts a tail, and checks the file that the tail writes', async () => {
    const words = argumentsOf('CMD');
    const { rest = '' } = instructions.find(({ name }) => name === 'HEALTHCHECK') ?? {};
    const [, probe] = rest.split(' CMD ');
    expect(argumentsOf('ENTRYPOINT')).toEqual(['trdr']);
    expect(await holdToCommand(words)).toBe('thesis tail');
    expect(probe).toBe(probeOf(words[words.indexOf('--status') + 1]));
  });
});

describe('the Kubernetes manifest', () => {
  const text = blockOf('yaml', 'apiVersion:');
  const document = parseDocument(text, { strict: true, uniqueKeys: true });

  const container = z.object({
    image: z.string(),
    args: z.array(z.string()),
    volumeMounts: z.array(z.object({ name: z.string() })),
    env: z.optional(z.array(z.object({ name: z.string(), value: z.optional(z.string()) }))),
    livenessProbe: z.optional(z.object({ exec: z.object({ command: z.array(z.string()) }) })),
  });
  /** The fields that this test compares. */
  const StatefulSet = z.object({
    spec: z.object({
      selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
      template: z.object({
        metadata: z.object({ labels: z.record(z.string(), z.string()) }),
        spec: z.object({ initContainers: z.array(container), containers: z.array(container) }),
      }),
      volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })),
    }),
  });

  test('is strict YAML, and its parts refer to each other', async () => {
    expect([document.errors, document.warnings]).toEqual([[], []]);
    const { template, selector, volumeClaimTemplates } = z.parse(StatefulSet, document.toJS()).spec;
    expect(template.metadata.labels).toEqual(selector.matchLabels);
    const [tail] = template.spec.containers;
    if (!tail) throw new Error('no container');
    expect(tail.volumeMounts.map(({ name }) => name)).toEqual(
      volumeClaimTemplates.map(({ metadata }) => metadata.name),
    );
    expect(await holdToCommand(tail.args)).toBe('thesis tail');
    // A limit per run does not help if the tail is restarted whenever it ends.
    expect(tail.args.join(' ')).not.toContain('--max-cu');
    const [budget] = template.spec.initContainers;
    expect(await holdToCommand(budget?.args ?? [])).toBe('budget set');
    expect(budget).toMatchObject({ image: tail.image, volumeMounts: tail.volumeMounts });
    const status = tail.args
      .find((word) => word.startsWith('--status='))
      ?.slice('--status='.length);
    expect(tail.livenessProbe?.exec.command).toEqual(['sh', '-c', probeOf(status)]);
    // A key in the manifest would end up in the repository.
    expect(tail.env?.find(({ name }) => name === 'TRDR_API_KEY')?.value).toBeUndefined();
  });

  const inSoak = isSoak ? test.skipIf(!has('kubectl')) : undefined;
  inSoak?.('has only fields that the types of Kubernetes know', () => {
    const folder = openFolder();
    const path = join(folder, 'tail.yaml');
    writeFileSync(path, text);
    // kubectl parses the manifest without a cluster and writes it again, which drops unknown fields.
    const words = ['set', 'env', '--local', '-f', path, 'CHECKED=1', '-o', 'json'];
    const { stdout, stderr, exitCode } = execaSync('kubectl', words, {
      ...{ reject: false, env: { HOME: folder, KUBECONFIG: join(folder, 'none') } },
    });
    expect([exitCode, stderr]).toEqual([0, '']);
    const [kept, given] = [pathsOf(JSON.parse(stdout)), pathsOf(document.toJS())];
    expect([...given].filter((each) => !kept.has(each))).toEqual([]);
  });
});

/** The paths of all values in a document. */
function pathsOf(value: unknown, prefix = ''): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set([prefix]);
  return new Set(
    Object.entries(value).flatMap(([key, inner]) => [...pathsOf(inner, `${prefix}/${key}`)]),
  );
}
