import type { Reporter, TestModule } from 'vitest/node';
import { missingTools } from './tools.ts';

/**
 * Ends the run with one table of the tools that are missing. In CI every tool is there, so a skipped test fails the run: nobody
 * would notice otherwise that it tests nothing.
 */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map(
        (test) => `${module.relativeModuleId}: ${test.fullName}`,
      ),
    );
    const missing = missingTools();
    if (missing.length > 0)
      process.stdout.write(`\n${table([['missing', 'skipped', 'package'], ...missing])}\n`);
    if (skipped.length === 0 || process.env['CI'] !== 'true') return;
    if (process.env['TEST_TOOLS'] === 'none') return;
    process.stdout.write(`\nskipped, although this is CI:\n  ${skipped.join('\n  ')}\n`);
    process.exitCode = 1;
  }
}

function table(rows: readonly (readonly string[])[]): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map((row) => `  ${row.map((cell, at) => cell.padEnd(widthOf(at))).join('  ')}`.trimEnd())
    .join('\n');
}
