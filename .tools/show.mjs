// Updates the output shown in README and docs: the text after each `<!-- shown: ... -->`, and docs/terminal.svg. With --check it
// writes nothing and exits 1 if a file is outdated.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, root } from './bundle.mjs';
import { picture } from './picture.mjs';
import { openStage } from './stage.mjs';

const COLUMNS = 92;
const check = process.argv.includes('--check');
const stage = await openStage();
const stale = [];

/** Runs a command line of a document on the stage. */
async function play(line, options) {
  const words = line.split(' ').filter((word) => word !== 'trdr' && word !== '--sandbox');
  return stage.play(words, { ...options, live: words.includes('tail') });
}

/** Generated tables. */
const tables = {
  async faults() {
    const { faultKinds } = await load('src/sandbox/faults/grammar.ts');
    const words = { must: 'required', may: 'optional', no: '—' };
    const timeOf = ({ time = 'no' }) => words[time] ?? `default ${time / 1000}s`;
    const rows = Object.entries(faultKinds).map(
      ([name, kind]) => `| \`${name}\` | ${kind.place} | ${timeOf(kind)} | ${kind.meaning} |`,
    );
    return ['| name | applies to a | time | effect |', '| --- | --- | --- | --- |', ...rows].join(
      '\n',
    );
  },
  advice: async () => (await (await load('src/cli/docs/manual.ts')).preparedTexts()).exitTable,
  never: async () => (await (await load('src/cli/docs/manual.ts')).preparedTexts()).neverList,
  async settings() {
    const { configNames, settingRows } = await load('src/state/config/settings-table.ts');
    const code = (text) => (text ? `\`${text}\`` : '—');
    const rows = configNames.map((name) => {
      const { about, fallbackText, flag, env } = settingRows[name];
      return `| \`${name}\` | ${about} | ${fallbackText} | ${code(flag)} | ${code(env)} |`;
    });
    const head = [
      '| setting | meaning | default | flag | variable |',
      '| --- | --- | --- | --- | --- |',
    ];
    return [...head, ...rows].join('\n');
  },
};

async function shown(what) {
  if (Object.hasOwn(tables, what)) return tables[what]();
  const [sequence, most = Number.POSITIVE_INFINITY] = what.split(' # first ');
  const text = [];
  for (const line of sequence.split(' && ')) {
    // What follows the command is a comment for the reader.
    const [command] = line.split(' # ');
    const isNext = text.length > 0;
    const lines = (await play(command.trim(), { columns: 80, isNext })).trimEnd().split('\n');
    text.push(`$ ${line}`, ...lines.slice(0, most), ...(lines.length > most ? ['…'] : []));
  }
  return ['```console', ...text, '```'].join('\n');
}

async function fill(text) {
  const marks = /<!-- shown: (.+?) -->\n[\s\S]*?<!-- \/shown -->/g;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(marks)) {
    parts.push(
      text.slice(end, match.index),
      `<!-- shown: ${match[1]} -->\n${await shown(match[1])}\n<!-- /shown -->`,
    );
    end = match.index + match[0].length;
  }
  return parts.join('') + text.slice(end);
}

function keep(path, text) {
  const full = join(root, path);
  let now = '';
  try {
    now = readFileSync(full, 'utf8');
  } catch {
    // The file does not exist yet.
  }
  if (now === text) return;
  stale.push(path);
  if (!check) writeFileSync(full, text);
}

async function terminal() {
  const lines = [
    'trdr whois mira --sandbox',
    'trdr pnl mira quantumhawk Oracle28 --window 7d --sandbox',
    'trdr thesis tail --count 4 --duration 1m --sandbox',
  ];
  const parts = [];
  for (const line of lines) {
    const text = await play(line, { columns: COLUMNS, color: true });
    parts.push(`\x1b[32m$\x1b[0m \x1b[1m${line}\x1b[0m\n${text.trimEnd()}\n`);
  }
  return picture(parts.join('\n'), { columns: COLUMNS, title: `A terminal: ${lines.join(', ')}` });
}

try {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  for (const path of ['README.md', ...pages.map((name) => `docs/${name}`)]) {
    keep(path, await fill(readFileSync(join(root, path), 'utf8')));
  }
  keep('docs/terminal.svg', await terminal());
} finally {
  await stage.close();
}
if (check && stale.length > 0) {
  process.stderr.write(`outdated: ${stale.join(', ')}\nrun "npm run show"\n`);
  process.exitCode = 1;
}
