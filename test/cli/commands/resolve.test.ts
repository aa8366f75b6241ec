import { describe, expect, it } from 'vitest';
import { runInProcess } from '../../e2e/in-process.ts';

describe('trdr resolve without an answer', () => {
  it('reports on a terminal that retrying rarely helps if no wallet can be verified', async () => {
    const { exitCode, stderr } = await runInProcess(['resolve', 'nowallet', '--sandbox'], { tty: true });
    expect(exitCode).toBe(8);
    expect(stderr).toContain('nowallet: no wallet can be verified; a retry rarely helps');
  });

  it('prints no notice without a terminal, because the records contain the reason', async () => {
    const { stdout, stderr } = await runInProcess(['resolve', 'nowallet', '--sandbox']);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'PENDING', reason: 'no_preview' });
    expect(stderr).toBe('');
  });
});
