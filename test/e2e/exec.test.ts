import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSamples } from '../status-file.ts';
import { idsOf, readText, startTailProgram, until } from './feed.ts';
import { openDesk } from './harness.ts';

const open = {
  unmetered: true,
  ratePerMinute: 600_000,
  burstPerSecond: 100_000,
  theses: 30,
} as const;

describe.runIf(process.platform !== 'win32')('--exec', () => {
  it('hands over what would be printed, filters and fields included, and resumes without a repeat', async () => {
    const { sandbox, home } = await openDesk(open);
    const [out, checkpoint] = [home.at('got'), home.at('ck')];
    const run = (count: number) =>
      home.run(
        ['thesis', 'tail', '--yes', '--via', 'poll', '--lag', '100ms', '--backfill', '20']
          .concat(['--fields', 'id,platformCreatedAt', '--times', 'iso', '--count', `${count}`])
          .concat(['--checkpoint', checkpoint, '--batch', '4', '--exec', `cat >> '${out}'`]),
        { sandbox },
      );
    const first = await run(10);
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.stderr).toContain('handed over 10 posts in 3 batches');
    const second = await run(10);
    expect(second.exitCode, second.stderr).toBe(0);
    const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1);
    expect(lines[0]).toMatch(/^\{"id":"[^"]+","platformCreatedAt":"\d{4}-[^"]+Z"\}$/);
    const ids = idsOf(readFileSync(out, 'utf8'));
    expect(new Set(ids).size).toBe(20);
    const times = lines.map((line) => JSON.parse(line).platformCreatedAt);
    expect(times).toEqual([...times].sort());
  });

  it('moves a batch that is never accepted to the dead-letter file, continues, and exits 9', async () => {
    const { home, run } = await openDesk(open);
    const [out, checkpoint] = [home.at('got'), home.at('ck')];
    const command = `echo "$TRDR_BATCH.$TRDR_ATTEMPT" >> tries; test "$TRDR_BATCH" != 2 && cat >> '${out}'`;
    const flags = '--yes --via poll --backfill 6 --count 6 --batch 2 --tries 2'.split(' ');
    const ran = await run(
      ['thesis', 'tail', ...flags, '--checkpoint', checkpoint, '--exec', command].concat([
        '--status',
        home.at('a.prom'),
      ]),
      { random: () => 0 },
    );
    expect([ran.exitCode, ran.error()['code']], ran.stderr).toEqual([9, 'DEAD_LETTER']);
    expect(home.read('tries')).toBe('1.1\n2.1\n2.2\n3.1\n');
    const dead = `${checkpoint}.dead.ndjson`;
    expect([idsOf(readText(out)).length, idsOf(readText(dead)).length]).toEqual([4, 2]);
    expect(ran.stderr).toContain(
      `the command failed on batch 2 (2 posts) after 2 attempts: exit code 1`,
    );
    expect(ran.stderr).toContain(
      'handed over 4 posts in 2 batches, 2 posts in the dead-letter file',
    );
    expect(readSamples(home.at('a.prom'))).toMatchObject({
      ...{ handoff_batches_total: 2, handoff_rows_total: 4, handoff_retries_total: 1 },
      ...{ handoff_dead_batches_total: 1, handoff_dead_rows_total: 2 },
      ...{ handoff_pending_rows: 0, handoff_oldest_age_seconds: 0, handoff_last_exit_code: 0 },
    });
  });

  it('hands over no post from before the start, also in a terminal', async () => {
    const { home, run } = await openDesk(open);
    const out = home.at('got');
    const flags = ['--yes', '--via', 'poll', '--lag', '100ms', '--duration', '200ms'];
    const ran = await run(['thesis', 'tail', ...flags, '--exec', `cat >> '${out}'`], { tty: true });
    expect([ran.exitCode, readText(out)], ran.stderr).toEqual([0, '']);
    expect(ran.stderr).toContain('handed over 0 posts in 0 batches');
  });

  it('at a signal waits for the command; a second signal kills it', async () => {
    const { sandbox, home } = await openDesk(open);
    const [go, out, checkpoint] = [home.at('go'), home.at('got'), home.at('ck')];
    // Waits for a line from the FIFO as long as there is one.
    execFileSync('mkfifo', [go]);
    const script = `echo $$ > '${out}.pid'; [ ! -p '${go}' ] || read -r _ < '${go}'; cat >> '${out}'`;
    const flags = ['--yes', '--via', 'poll', '--backfill', '4', '--batch', '2', '--exec', script];
    const start = () => startTailProgram([...flags, '--checkpoint', checkpoint], { sandbox, home });

    const killed = start();
    await until(() => readText(`${out}.pid`).endsWith('\n'));
    const pid = Number(readText(`${out}.pid`));
    killed.child.kill('SIGINT');
    await until(() =>
      killed.stderr.includes(
        'waiting for the command (batch 1); a second signal kills the command',
      ),
    );
    process.kill(pid, 0);
    killed.child.kill('SIGTERM');
    expect((await killed.child).exitCode).toBe(143);
    await until(
      () => !existsSync(`/proc/${pid}/cmdline`) || readText(`/proc/${pid}/cmdline`) === '',
    );
    expect(existsSync(out)).toBe(false);

    const waited = start();
    await until(() => readText(`${out}.pid`) !== `${pid}\n`);
    waited.child.kill('SIGINT');
    await until(() => waited.stderr.includes('waiting for the command'));
    expect(waited.child.exitCode).toBe(null);
    writeFileSync(go, '\n');
    rmSync(go);
    expect((await waited.child).exitCode, waited.stderr).toBe(130);
    expect(idsOf(readText(out)).length).toBe(2);
    expect(waited.stderr).toContain(
      'handed over 2 posts in 1 batch, 2 posts left for the next run',
    );

    const rest = start();
    await until(() => idsOf(readText(out)).length >= 4);
    rest.child.kill('SIGTERM');
    await rest.child;
    const ids = idsOf(readText(out));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
