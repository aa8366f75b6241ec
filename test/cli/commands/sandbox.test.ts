import { describe, expect, it } from 'vitest';
import { runInProcess } from '../../e2e/in-process.ts';

/** Starts the sandbox in this process, and stops it when it has printed its address. */
async function started(args: readonly string[], options: Parameters<typeof runInProcess>[1] = {}) {
  const end = new AbortController();
  const ran = await runInProcess(['sandbox', ...args], {
    ...options,
    interrupt: end.signal,
    onStderr: () => end.abort(),
  });
  return ran;
}

describe('trdr sandbox on a terminal', () => {
  it('prints the export lines to paste, after the line of JSON', async () => {
    const { stdout, stderr } = await started([], { tty: { stderr: true } });
    const { url, key } = JSON.parse(stdout);
    expect(stderr).toContain(`\nexport TRDR_BASE_URL=${url}\nexport TRDR_API_KEY=${key}\n`);
  });

  it('writes them for PowerShell on Windows', async () => {
    const { stdout, stderr } = await started([], { tty: { stderr: true }, platform: 'win32' });
    const { url } = JSON.parse(stdout);
    expect(stderr).toContain(`\n$env:TRDR_BASE_URL = "${url}"\n`);
  });
});
