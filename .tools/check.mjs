// Builds, and then runs all checks except the tests at the same time. Prints the output of those that fail.
import { spawn } from 'node:child_process';
import { root } from './bundle.mjs';

/** The slowest checks come first, so that the total time is short. */
const checks = ['lint', 'dead', 'types', 'show -- --check', 'package', 'generate -- --check', 'language'];

/** Runs a script of package.json; resolves to true if the script succeeded. */
const run = (script) =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', ...script.split(' ')], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) process.stdout.write(Buffer.concat([Buffer.from(`npm run ${script}\n`), ...output]));
      resolve(code === 0);
    });
  });

const passed = (await run('build')) && (await Promise.all(checks.map(run))).every(Boolean);
process.exitCode = passed ? 0 : 1;
