import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { ExportJournal } from '../../../src/state/export-journal/journal.ts';
import {
  type JournalLine,
  readJournalLine,
  writeLine,
} from '../../../src/state/export-journal/journal-lines.ts';
import { digestOf, openJournal } from '../../../src/state/export-journal/open-journal.ts';
import { PRICE, runExport, type Service } from '../export.ts';
import { anyText, room, runs, workers } from '../room.ts';

const { path, under } = room();
const worker = workers(path);
const HANDLES = Array.from({ length: 11 }, (_, at) => `trader${at}`);
const fileOf = (handles: readonly string[]) =>
  handles.map((handle) => `${JSON.stringify({ handle, note: 'é\n' })}\n`).join('');
const FILE = fileOf(HANDLES);

/** A service with a meter and a list of paid handles. */
function meteredService(): Service & { readonly paid: string[] } {
  const paid: string[] = [];
  return {
    paid,
    async ask(handles) {
      paid.push(...handles);
      return { rows: handles.map((handle) => ({ handle, note: 'é\n' })), cu: handles.length * PRICE };
    },
    me: async () => paid.length * PRICE,
  };
}

function folder(name: string): { dir: string; out: string; journal: string } {
  const dir = under(name);
  mkdirSync(dir);
  return { dir, out: join(dir, 'out.ndjson'), journal: join(dir, 'out.ndjson.journal') };
}

const identity = { inputs: digestOf(HANDLES), format: 'ndjson', flags: { batch: 3 } };
const options = (out: string) => ({ out, identity, size: HANDLES.length, resume: true, now: () => 5 });

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Failure ? error : expect.unreachable(String(error));
}

/** The journal of an uninterrupted run, just before it is deleted. */
async function journalOfARun(handles = HANDLES): Promise<Buffer> {
  const { out, journal } = folder('whole');
  let bytes = Buffer.alloc(0);
  const stop = () => {
    bytes = readFileSync(journal);
  };
  await runExport(out, handles, meteredService(), { stop });
  return bytes.subarray(0, bytes.lastIndexOf('}\n') + 2);
}

test('an uninterrupted export writes the file in order, without leftovers', async () => {
  const { dir, out } = folder('plain');
  const service = meteredService();
  await runExport(out, HANDLES, service);
  expect(readFileSync(out, 'utf8')).toBe(FILE);
  expect(service.paid).toEqual(HANDLES);
  expect(readdirSync(dir)).toEqual(['out.ndjson']);
});

test('an export resumes from any byte of its journal, without loss or double payment', async () => {
  const handles = HANDLES.slice(0, 5);
  const whole = await journalOfARun(handles);
  const { out, journal, dir } = folder('torn');
  for (let length = 0; length <= whole.length; length++) {
    const kept = whole.subarray(0, length);
    // After the lines, add 0, 1 or 400 line breaks, as the space that a journal reserves.
    writeFileSync(journal, Buffer.concat([kept, Buffer.alloc([0, 1, 400][length % 3] ?? 0, '\n')]));
    const lines = kept.toString('utf8').split('\n').map(readJournalLine);
    const held = new Set(lines.flatMap((line) => (line?.kind === 'row' ? [line.position] : [])));
    const service = meteredService();
    const { lost } = await runExport(out, handles, service);
    // Only what the journal lacks is requested again.
    expect(service.paid).toEqual(handles.filter((_, position) => !held.has(position)));
    for (const handle of lost) expect(service.paid).toContain(handle);
    expect(readFileSync(out, 'utf8')).toBe(fileOf(handles));
    expect(readdirSync(dir)).toEqual(['out.ndjson']);
  }
});

test('a partly written answer yields its complete records', async () => {
  const whole = await journalOfARun();
  const lines = whole.toString('utf8').trimEnd().split('\n');
  const { out, journal } = folder('scattered');
  const rows = lines.slice(-3);
  const spoilt = [...lines.slice(0, -3), '\0'.repeat(40), ...rows.slice(1)];
  writeFileSync(journal, `${spoilt.join('\n')}\n\n\n`);
  const service = meteredService();
  await runExport(out, HANDLES, service);
  expect(service.paid).toHaveLength(1);
  expect(readFileSync(out, 'utf8')).toBe(FILE);
});

test('an invalid line before another batch is corruption, not a crash', async () => {
  const lines = (await journalOfARun()).toString('utf8').trimEnd().split('\n');
  for (const spoilt of [0, 1, 3]) {
    const { out, journal } = folder('damaged');
    const text = `${lines.map((line, at) => (at === spoilt ? line.slice(5) : line)).join('\n')}\n`;
    writeFileSync(journal, text);
    const failure = await failureOf(openJournal(options(out)));
    expect(failure).toMatchObject({ kind: 'local', code: 'JOURNAL_DAMAGED' });
    expect(failure.message).toContain(journal);
    expect(readFileSync(journal, 'utf8')).toBe(text);
  }
});

test('a batch with an unknown outcome is reported with the usage before it', async () => {
  const { out } = folder('open');
  const first = await openJournal(options(out));
  const one = await first.asking({ positions: [0, 1, 2], unitsUsed: 500 });
  const two = await first.asking({ positions: [3, 5], unitsUsed: null });
  await first.answered(one, { rows: [{ position: 0, value: null }], cu: 100 });
  expect(first.free(9)).toEqual([1, 2, 4, 6, 7, 8, 9, 10]);
  await first.close();
  const next = await openJournal(options(out));
  expect(next.resumed).toBe(true);
  expect(next.openBatches()).toEqual([{ batch: two, positions: [3, 5], unitsUsed: null, partial: false }]);
  await next.lost(two, 60_000);
  expect(next.counts()).toEqual({ size: 11, answered: 1, cu: 100, lostBatches: 1, lostCuAtMost: 60_000 });
  expect(next.free(3)).toEqual([1, 2, 3]);
  const three = await next.asking({ positions: [1, 2], unitsUsed: 600 });
  expect(three).toBeGreaterThan(two);
  await next.dropped(three);
  expect(next.free(2)).toEqual([1, 2]);
  await next.close();
});

test('an answer that could not be read is returned again until its handles have another answer', async () => {
  const { out } = folder('unread');
  const unreadOf = async (journal: ExportJournal) => {
    const found: unknown[] = [];
    for await (const one of journal.unread()) found.push(one);
    return found;
  };
  const first = await openJournal(options(out));
  const one = await first.asking({ positions: [0, 1, 2], unitsUsed: 0 });
  await first.lost(one, 90_000, '{"a":"\\ud83d\\n"}');
  const two = await first.asking({ positions: [3], unitsUsed: 0 });
  await first.lost(two, 30_000);
  await first.found([{ position: 1, value: null }]);
  await first.close();
  const next = await openJournal(options(out));
  expect(await unreadOf(next)).toEqual([{ positions: [0, 2], answer: '{"a":"\\ud83d\\n"}' }]);
  await next.found([
    { position: 0, value: null },
    { position: 2, value: null },
  ]);
  expect(await unreadOf(next)).toEqual([]);
  await next.close();
});

test('batches may be concurrent and answered in any order', async () => {
  const { out } = folder('together');
  const journal = await openJournal(options(out));
  const batches = await Promise.all(
    [0, 3, 6].map((from) => journal.asking({ positions: [from, from + 1], unitsUsed: 0 })),
  );
  await Promise.all(
    batches.toReversed().map((batch, at) => {
      const from = 6 - 3 * at;
      const rows = [from, from + 1].map((position) => ({ position, value: `v${position}` }));
      return journal.answered(batch, { rows, cu: 1 });
    }),
  );
  const values: unknown[] = [];
  for await (const { value, held } of journal.values()) values.push(held ? value : undefined);
  expect(values).toEqual([
    'v0',
    'v1',
    undefined,
    'v3',
    'v4',
    undefined,
    'v6',
    'v7',
    ...Array(3).fill(undefined),
  ]);
  await expect(journal.answered(99, { rows: [], cu: 0 })).rejects.toThrow('not in flight');
  await expect(journal.asking({ positions: [0], unitsUsed: 0 })).rejects.toThrow('already requested');
  await journal.close();
});

test('an interrupted export is not restarted without --resume', async () => {
  const { out, journal } = folder('again');
  const first = await openJournal(options(out));
  await first.asking({ positions: [0], unitsUsed: 0 });
  await first.close();
  const before = readFileSync(journal);
  const failure = await failureOf(openJournal({ ...options(out), resume: false }));
  expect(failure).toMatchObject({ kind: 'usage', hint: expect.stringContaining('--resume') });
  expect(readFileSync(journal)).toEqual(before);
});

test.each([
  ['notes of the user', 'numbers of\nNovember\n'],
  ['JSON that is not a journal', '{"a":1}\n'],
  ['nothing but zeros', '\0'.repeat(4_096)],
])('a file in the place of the journal that contains %s is rejected and not changed', async (_, text) => {
  const { out, journal } = folder('foreign');
  writeFileSync(journal, text);
  for (const resume of [true, false]) {
    await expect(openJournal({ out, identity, size: 3, resume, now: () => 0 })).rejects.toMatchObject({
      kind: 'local',
      code: 'JOURNAL_DAMAGED',
    });
  }
  expect(readFileSync(journal, 'utf8')).toBe(text);
});

test('only a full disk is a reason to free disk space', async () => {
  const { out } = folder('occupied');
  const journal = await openJournal(options(out));
  await journal.found([{ position: 0, value: 'v0' }]);
  mkdirSync(join(out, 'child'), { recursive: true });
  const failure = await failureOf(journal.deliver(['text']));
  expect(failure.hint).toBe('remove the cause and run the same command again with --resume');
  await journal.close();
});

test('an empty journal does not prevent an export', async () => {
  const { out } = folder('empty');
  await (await openJournal(options(out))).close();
  const other = { ...options(out), identity: { ...identity, format: 'csv' }, resume: false };
  const journal = await openJournal(other);
  expect(journal.resumed).toBe(false);
  await journal.close();
});

test.each([
  ['the handles', { identity: { ...identity, inputs: digestOf(['x']) } }],
  ['the format', { identity: { ...identity, format: 'csv' } }],
  ['batch', { identity: { ...identity, flags: { batch: 4 } } }],
  ['window', { identity: { ...identity, flags: { batch: 3, window: '7d' } } }],
  ['the number of handles', { size: 4 }],
])('a journal of an export with a different %s is rejected', async (what, change) => {
  const { out } = folder('other');
  const first = await openJournal(options(out));
  await first.asking({ positions: [7], unitsUsed: 0 });
  await first.close();
  const failure = await failureOf(openJournal({ ...options(out), ...change }));
  expect(failure).toMatchObject({ kind: 'usage', code: 'JOURNAL_OTHER' });
  expect(failure.message).toContain(what);
});

test('a second process on the same file is rejected', async () => {
  const { out } = folder('second');
  const first = await openJournal(options(out));
  expect(await failureOf(openJournal(options(out)))).toMatchObject({
    code: 'LOCKED',
    message: expect.stringContaining(`${out} is in use: locked by process ${process.pid}`),
  });
  await first.close();
  await (await openJournal(options(out))).close();
});

test('an unsuitable file is rejected before anything is created', async () => {
  const { dir, out } = folder('unfit');
  const file = under('file');
  writeFileSync(file, '');
  const missing = await failureOf(openJournal(options(join(dir, 'none', 'x'))));
  expect(missing).toMatchObject({ kind: 'usage', hint: `create it first: mkdir -p '${join(dir, 'none')}'` });
  const inFile = await failureOf(openJournal(options(join(file, 'x'))));
  expect(inFile).toMatchObject({ kind: 'usage', message: `${file} is not a folder` });
  expect(await failureOf(openJournal(options(dir)))).toMatchObject({ kind: 'usage' });
  expect(await failureOf(openJournal(options('/dev/null')))).toMatchObject({ kind: 'usage' });
  const newer = { kind: 'header', version: 2, size: 1, startedAt: 0, identity };
  writeFileSync(`${out}.journal`, `${JSON.stringify(newer)}\n`);
  expect(await failureOf(openJournal(options(out)))).toMatchObject({ code: 'JOURNAL_NEWER' });
  expect(readdirSync(dir)).toEqual(['out.ndjson.journal']);
});

test('the file keeps its mode and its link, and the journal is private', async () => {
  const { dir, out } = folder('modes');
  const real = join(dir, 'real');
  writeFileSync(real, 'old', { mode: 0o640 });
  symlinkSync('real', out);
  let mode = 0;
  const stop = () => {
    mode = statSync(`${real}.journal`).mode & 0o777;
  };
  await runExport(out, HANDLES, meteredService(), { stop });
  expect([mode, statSync(real).mode & 0o777]).toEqual([0o600, 0o640]);
  expect(readFileSync(real, 'utf8')).toBe(FILE);
});

test('a full disk is detected before a batch is paid for, and the export resumes later', async () => {
  const { dir, out } = folder('full');
  const failed = await worker(['export', out, HANDLES.length], {}, 2);
  expect(failed.stdout).toContain('EFBIG');
  const paid = Number(/paid (\d+)/.exec(String(failed.stdout))?.[1]);
  const service = meteredService();
  await runExport(out, HANDLES, service);
  expect(paid).toBeGreaterThan(0);
  expect(paid + service.paid.length).toBe(HANDLES.length);
  expect(readFileSync(out, 'utf8')).toBe(FILE);
  expect(readdirSync(dir)).toEqual(['out.ndjson']);
});

test('an export that is killed repeatedly pays again only for reported losses', async () => {
  const handles = Array.from({ length: 60 }, (_, at) => `trader${at}`);
  const { out, journal } = folder('killed');
  const service = meteredService();
  let kill = () => {};
  let killIn = 0;
  const server = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const part of request) body.push(part);
    if (request.url === '/me') return response.end(String(await service.me()));
    const asked: string[] = JSON.parse(Buffer.concat(body).toString());
    const answer = JSON.stringify(await service.ask(asked));
    // Kill the export before the answer is sent, while it is in flight, or after it was written.
    killIn--;
    if (killIn === 2) kill();
    response.end(answer, () => {
      if (killIn === 1) kill();
    });
    if (killIn === 0) setImmediate(kill);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  let lost = 0;
  let deaths = 0;
  for (let run = 0; run < 40; run++) {
    const child = worker(['resume', out, handles.length, port], { reject: false });
    killIn = run % 5 === 4 ? 100 : 3 + (run % 3);
    kill = () => child.kill('SIGKILL');
    const { stdout, signal } = await child;
    for (const [, count] of String(stdout).matchAll(/lost (\d+)/g)) lost += Number(count);
    if (signal !== 'SIGKILL') break;
    deaths++;
  }
  server.close();
  expect(deaths).toBeGreaterThan(2);
  expect(existsSync(journal)).toBe(false);
  expect(new Set(service.paid)).toEqual(new Set(handles));
  expect(service.paid.length).toBe(handles.length + lost);
  expect(readFileSync(out, 'utf8')).toBe(fileOf(handles));
});

test('any text is a line or nothing, and a line reads back unchanged', () => {
  const natural = fc.nat();
  const lines: fc.Arbitrary<JournalLine> = fc.oneof(
    fc.record({ kind: fc.constant('row' as const), position: natural, value: fc.jsonValue() }),
    fc.record({
      kind: fc.constant('asking' as const),
      batch: natural,
      positions: fc.array(natural, { maxLength: 30 }),
      unitsUsed: fc.option(natural),
    }),
    fc.record({ kind: fc.constant('lost' as const), batch: natural, cuAtMost: natural }),
    fc.record({ kind: fc.constant('dropped' as const), batch: natural }),
    fc.record({
      kind: fc.constant('answered' as const),
      batch: natural,
      cu: natural,
      requestId: fc.option(fc.string({ unit: 'binary' })),
    }),
  );
  fc.assert(
    fc.property(lines, (line) => {
      const text = writeLine(line);
      expect(text.indexOf('\n')).toBe(text.length - 1);
      expect(readJournalLine(text)).toEqual(JSON.parse(JSON.stringify(line)));
    }),
    runs(300),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      readJournalLine(text);
    }),
    runs(400),
  );
});

test('an answer that another program removed from the journal is an error, not a missing row', async () => {
  const { out, journal } = folder('removed');
  const opened = await openJournal(options(out));
  await opened.found(HANDLES.map((handle, position) => ({ position, value: { handle } })));
  truncateSync(journal, readFileSync(journal).length - 40);
  const readAll = async () => {
    for await (const { held } of opened.values()) expect(held).toBe(true);
  };
  const failure = await failureOf(readAll());
  expect(failure).toMatchObject({ kind: 'local', code: 'JOURNAL_DAMAGED' });
  await opened.close();
  const resumed = await openJournal(options(out));
  expect(resumed.counts().answered).toBeLessThan(HANDLES.length);
  await resumed.close();
});

test('a journal with any contents is opened with the answers before the damage, or rejected', async () => {
  const whole = await journalOfARun();
  const { out, journal } = folder('garbage');
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), fc.nat(60), anyText, async (at, cut, garbage) => {
      const text = Buffer.concat([whole.subarray(0, at), Buffer.from(garbage), whole.subarray(at + cut)]);
      writeFileSync(journal, text);
      const intact = whole.subarray(0, whole.subarray(0, at).lastIndexOf('\n') + 1).toString('utf8');
      const rows = intact
        .split('\n')
        .map(readJournalLine)
        .filter((line) => line?.kind === 'row');
      const opened = await openJournal(options(out)).catch((error: unknown) => {
        expect(error).toBeInstanceOf(Failure);
      });
      await opened?.close();
      if (opened) expect(opened.counts().answered).toBeGreaterThanOrEqual(rows.length);
      truncateSync(journal);
    }),
    runs(150),
  );
});
