import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

describe('a key that was saved for another service', () => {
  it('causes a warning if a flag or a variable sends it elsewhere', async () => {
    const sandbox = await withSandbox({});
    const home = openHome();
    mkdirSync(home.config, { recursive: true });
    const profile = { baseUrl: 'https://desk.example', key: sandbox.key };
    writeFileSync(
      join(home.config, 'config.json'),
      JSON.stringify({ version: 1, current: 'default', profiles: { default: profile } }),
    );
    const { stderr, exitCode } = await runInProcess(['me', '--base-url', sandbox.url], { home });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`sending the key saved for https://desk.example to ${sandbox.url}`);
  });
});
