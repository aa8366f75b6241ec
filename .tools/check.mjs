// Builds, and then runs the checks concurrently. With --tests, also runs the tests, and passes all other arguments to them. At the
// end, prints the output of the checks that failed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from './bundle.mjs';

/** The arguments of the tests; undefined without --tests. */
const words = process.argv[2] === '--tests' ? process.argv.slice(3) : undefined;
/** The slow checks first, so that all end at about the same time. */
const checks = [
  'lint',
  'dead',
  'types',
  'show --check',
  'package',
  'generate --check',
  'language',
  'sbom',
  'workflows',
];

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);

/** Runs a script of package.json as npm does, which itself takes as long as some of the checks. */
function script(line) {
  const [name, ...flags] = line.split(' ');
  const command = [scripts[name], ...flags].join(' ');
  const options = { shell: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PATH } };
  return ended(line, spawn(command, { cwd: root, ...options }));
}

/** Resolves to the output of a script if it failed. */
const ended = (line, child) =>
  new Promise((resolve, reject) => {
    const output = [Buffer.from(`npm run ${line.replace(' ', ' -- ')}\n`)];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (part) => output.push(part));
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? undefined : Buffer.concat(output)));
  });

async function runAll() {
  const unbuilt = await script('build');
  if (unbuilt) return [unbuilt];
  const tests = ['run', '--silent', 'tests', '--', ...(words ?? [])];
  const running = words
    ? [ended('tests', spawn('npm', tests, { cwd: root, stdio: 'inherit' }))]
    : [];
  return Promise.all([...running, ...checks.map(script)]);
}

const failed = (await runAll()).filter((output) => output !== undefined);
for (const output of failed) process.stdout.write(output);
process.exitCode = failed.length === 0 ? 0 : 1;
