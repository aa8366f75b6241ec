// Builds, and then runs the checks concurrently. With --tests, also runs the tests, and passes all other arguments to them. At the
// end, prints the output of the checks that failed.
import { spawn } from 'node:child_process';
import { root } from './bundle.mjs';

/** The arguments of the tests; undefined without --tests. */
const words = process.argv[2] === '--tests' ? process.argv.slice(3) : undefined;
/** The slow checks first, so that all end at about the same time. */
const checks = [
  'lint',
  'dead',
  'types',
  'show -- --check',
  'package',
  'generate -- --check',
  'language',
  'sbom',
  'workflows',
];

/** Runs a script of package.json; resolves to its output if it failed. */
const run = (script, stdio = ['ignore', 'pipe', 'pipe']) =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', ...script], { cwd: root, stdio });
    const output = [Buffer.from(`npm run ${script.join(' ')}\n`)];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (part) => output.push(part));
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? undefined : Buffer.concat(output)));
  });

async function runAll() {
  const unbuilt = await run(['build']);
  if (unbuilt) return [unbuilt];
  const running = checks.map((check) => run(check.split(' ')));
  if (words) running.unshift(run(['tests', '--', ...words], 'inherit'));
  return Promise.all(running);
}

const failed = (await runAll()).filter((output) => output !== undefined);
for (const output of failed) process.stdout.write(output);
process.exitCode = failed.length === 0 ? 0 : 1;
