import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';

/** Builds a program of this folder and starts it in separate processes, which can be killed. */
export async function runWorkers(outfile: string, program = './worker.ts') {
  await build({
    entryPoints: [fileURLToPath(new URL(program, import.meta.url))],
    ...{ bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return (words: readonly (string | number)[]) => {
    const child = execa(process.execPath, [outfile, ...words.map(String)], {
      stdin: 'ignore',
      reject: false,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
}
