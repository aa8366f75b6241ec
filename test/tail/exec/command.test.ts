import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../src/tail/exec/command.ts';
import type { Batch } from '../../../src/tail/exec/delivery.ts';
import { openFolder } from '../../folder.ts';

const batchOf = (...ids: readonly string[]): Batch => ({
  number: 7,
  rows: ids.map((id) => ({ id, at: 1, line: Buffer.from(`${JSON.stringify({ id })}\n`) })),
});

function world(env: Record<string, string> = {}) {
  const cwd = openFolder();
  return { cwd, platform: process.platform, env: { PATH: process.env['PATH'] ?? '', ...env } };
}

describe.runIf(process.platform !== 'win32')('a command', () => {
  it('does not get the key, the password of the store, or the socket of a service manager', async () => {
    const given = world({
      TRDR_API_KEY: 'secret-1',
      TRDR_STORE_PASSWORD: 'secret-2',
      NOTIFY_SOCKET: '/run/x',
      KEPT: 'yes',
    });
    await runCommand('env > got', given, batchOf('a'), 1);
    const got = readFileSync(join(given.cwd, 'got'), 'utf8');
    expect(got).toContain('KEPT=yes');
    expect(got).not.toMatch(/secret|NOTIFY_SOCKET/);
  });

  it.each(['a b', '$(touch x)', 'a\nb', 'a\0b', ''])(
    'does not put the id %j into the environment',
    async (id) => {
      const given = world();
      const script = 'printf "%s|%s|" "$TRDR_FIRST_ID" "$TRDR_LAST_ID" > got';
      expect(await runCommand(script, given, batchOf(id, 'ok'), 1)).toEqual({ ok: true });
      expect(readFileSync(join(given.cwd, 'got'), 'utf8')).toBe('|ok|');
    },
  );

  it('has ended when its shell has, even if a process in the background holds its input', async () => {
    const given = world();
    const script = 'exec 3<&0; (sleep 5; touch ended) <&3 > /dev/null 2>&1 & exit 0';
    expect(await runCommand(script, given, large, 1)).toEqual({ ok: true });
    expect(existsSync(join(given.cwd, 'ended'))).toBe(false);
  });

  const large = batchOf(...Array.from({ length: 20_000 }, (_, i) => `${i}`.repeat(10)));
  it.each([
    ['exit 0', '.', { ok: true }],
    ['exit 3', '.', { ok: false, why: 'exit code 3', code: 3 }],
    ['cat > /dev/null; kill -9 $$', '.', { ok: false, why: 'killed by SIGKILL', code: 137 }],
    ['/nonesuch', '.', { ok: false, why: 'exit code 127', code: 127 }],
    ['cat', 'nonesuch', { ok: false, why: 'cannot start /bin/sh: ENOENT', code: 127 }],
  ])('acknowledges only with exit code 0, whatever it read: %s', async (script, folder, end) => {
    const given = world();
    expect(await runCommand(script, { ...given, cwd: join(given.cwd, folder) }, large, 1)).toEqual(
      end,
    );
  });
});
