import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRecord } from '../../src/base/json-object.ts';
import { openHome } from './harness.ts';

// What scripts depend on, one fact a line: commands, flags, fields and their types, exit codes, error codes and variables. A change
// is written to the file with UPDATE=1, once the changelog names it.
const file = join(import.meta.dirname, 'interface.txt');
const changelog = join(import.meta.dirname, '../../docs/changelog.md');

/** The names of a JSON Schema's fields with their types, each as a line. */
function fieldsOf(schema: unknown, path: string): string[] {
  if (!isRecord(schema)) return [];
  const parts = [schema['anyOf'], schema['oneOf'], schema['allOf']].flatMap((each) =>
    Array.isArray(each) ? each : [],
  );
  const below = parts.flatMap((part) => fieldsOf(part, path));
  if (isRecord(schema['items'])) below.push(...fieldsOf(schema['items'], `${path}[]`));
  if (isRecord(schema['additionalProperties']))
    below.push(...fieldsOf(schema['additionalProperties'], `${path}.*`));
  const { properties } = schema;
  if (!isRecord(properties)) return below;
  const own = Object.entries(properties).flatMap(([name, field]) => [
    `${path}.${name} ${typeOf(field)}`,
    ...fieldsOf(field, `${path}.${name}`),
  ]);
  return [...own, ...below];
}

function typeOf(field: unknown): string {
  if (!isRecord(field)) return 'any';
  if (Array.isArray(field['enum'])) return field['enum'].map(String).join('|');
  if ('const' in field) return String(field['const']);
  const { type, $ref: ref } = field;
  return String(Array.isArray(type) ? type.join('|') : (type ?? ref ?? 'any'));
}

interface Flag {
  readonly name: string;
  readonly value?: { readonly name: string };
}

const flagText = ({ name, value }: Flag) => (value ? `${name} ${value.name}` : name);

async function currentLines(): Promise<string[]> {
  const home = openHome();
  const read = async (...words: string[]) => {
    const { stdout, exitCode, stderr } = await home.run(words);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  const map = JSON.parse(await read('schema'));
  const lines = [
    ...map.exits.map(({ code }: { code: number }) => `exit ${code}`),
    ...map.codes.map(({ code }: { code: string }) => `error ${code}`),
    ...map.limits.map(({ code }: { code: string }) => `error ${code}`),
    ...fieldsOf(map.error, 'error'),
    ...map.flags.flatMap((group: { group: string; flags: Flag[] }) =>
      group.flags.map((flag) => `flag ${flagText(flag)}`),
    ),
  ];
  for (const { command } of map.commands) {
    const one = JSON.parse(await read('schema', ...command.split(' ')));
    lines.push(`${command} exits ${one.exits.map(({ code }: { code: number }) => code).join(' ')}`);
    lines.push(...one.flags.map((flag: Flag) => `${command} ${flagText(flag)}`));
    lines.push(...fieldsOf(one.record, `${command} record`));
  }
  const variables = await read('help', 'environment');
  const names = variables.match(/^ {2}[A-Z][A-Z_]+(?:, [A-Z_]+)*/gm) ?? [];
  lines.push(...names.flatMap((name) => name.trim().split(', ')).map((name) => `variable ${name}`));
  return [...new Set(lines)].sort();
}

/** The names in a line that the changelog must have: a flag, a field, a code or a command. */
const nameIn = (line: string) =>
  /(--[\w-]+)/.exec(line)?.[1] ?? /\.([\w*]+) \S+$/.exec(line)?.[1] ?? line.split(' ').at(-1) ?? '';

test('the machine interface is that of the file, or the changelog says what changed', async () => {
  const now = await currentLines();
  const before = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const changed = [
    ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
  ];
  const news = readFileSync(changelog, 'utf8').split(/^## /m)[1] ?? '';
  const unnamed = changed.filter((line) => !news.includes(nameIn(line)));
  if (process.env['UPDATE'] === '1') {
    if (before.length > 0) expect(unnamed, 'name these in docs/changelog.md first').toEqual([]);
    writeFileSync(file, `${now.join('\n')}\n`);
    return;
  }
  expect(changed, 'name these in docs/changelog.md, then run this file with UPDATE=1').toEqual([]);
});
