import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Records } from '../../../src/output/format/printing.ts';
import { FileWriter } from '../../../src/tail/file/file-writer.ts';
import { FollowedFile } from '../../../src/tail/file/followed-file.ts';
import { Positions } from '../../../src/tail/file/positions.ts';
import type { Position } from '../../../src/tail/position.ts';
import type { PostFields } from '../../../src/tail/post-row.ts';
import { openFolder } from '../../folder.ts';
import { unparsed } from '../fakes.ts';

const AT = Date.UTC(2026, 0, 1);
const lineOf = (id: string, at: number) => `{"id":"${id}","at":${at}}`;
const frameOf = (id: string, at: number) => unparsed(id, at, Buffer.from(lineOf(id, at)));

/** A file of a tail, and the positions of its run. */
async function open({ isElsewhere = false, hasPosts = true } = {}) {
  const folder = openFolder();
  const out = join(folder, 'theses.ndjson');
  const path = isElsewhere ? join(folder, 'position') : `${out}.trdr`;
  const certified = hasPosts ? { out, isElsewhere } : undefined;
  const positions = new Positions({ path, certified, filters: { token: ['A'] } }, undefined);
  const file = await FollowedFile.open(out, { mono: () => 0, now: () => AT, moved: () => {} });
  const printer: Records<PostFields> = {
    write() {
      throw new Error('the record was parsed');
    },
    writeRaw: (json) => file.sink.write(Buffer.concat([json, Buffer.from('\n')])),
    flush: () => file.sink.flush(),
    end: async () => void (await file.sink.finish('complete')),
    closed: file.sink.closed,
  };
  const writer = new FileWriter(printer, { hide() {}, paused: () => undefined }, file, hasPosts);
  const positionAt = (verified: number): Position => ({
    feed: 'f',
    start: AT,
    verified,
    lowest: null,
    ids: [],
    coverage: { after: AT, gaps: [] },
    file: writer.place(),
  });
  return { out, path, positions, writer, positionAt };
}
const fieldsIn = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('a writer of a file', () => {
  test('has the place after the rows that are in the file, with their digest and newest time', async () => {
    const { out, writer } = await open();
    const empty = writer.place();
    await writer.write([frameOf('a', AT + 2), frameOf('b', AT + 1)]);
    await writer.flush();
    const { offset, lines, ino } = writer.place();
    expect(readFileSync(out, 'utf8')).toBe(`${lineOf('a', AT + 2)}\n${lineOf('b', AT + 1)}\n`);
    expect(offset).toBe(readFileSync(out).length);
    expect(lines).toMatchObject({ rows: 2, newest: AT + 2 });
    expect(lines?.digest).not.toBe(empty.lines?.digest);
    expect(ino).toBe(empty.ino);
    await writer.close();
  });

  test('has no lines to certify if they are no posts', async () => {
    const { writer } = await open({ hasPosts: false });
    await writer.write([frameOf('a', AT)]);
    await writer.flush();
    expect(writer.place().lines).toBeUndefined();
    await writer.close();
  });
});

describe('the positions of a run', () => {
  test('are the certificate of its file, with its filters', async () => {
    const { path, positions, writer, positionAt } = await open();
    await writer.write([frameOf('a', AT + 1)]);
    await writer.flush();
    positions.save(positionAt(AT + 1));
    expect(fieldsIn(path)).toMatchObject({
      form: 'trdr-position',
      filters: { token: ['A'] },
      rows: 1,
      verified: AT + 1,
    });
    await writer.close();
  });

  test('certify the file beside it if they are saved elsewhere', async () => {
    const { out, path, positions, writer, positionAt } = await open({ isElsewhere: true });
    positions.save(positionAt(AT + 1));
    expect(fieldsIn(path).form).toBe('trdr-position');
    expect(fieldsIn(`${out}.trdr`)).toMatchObject({ form: 'trdr-certificate', verified: AT + 1 });
    await writer.close();
  });

  test('certify a finished file by what was saved last, not by what is known now', async () => {
    const { out, positions, writer, positionAt } = await open();
    const finished = `${out}.1`;
    positions.certify(finished, writer.place());
    expect(existsSync(`${finished}.trdr`)).toBe(false);
    await writer.write([frameOf('a', AT + 1)]);
    await writer.flush();
    positions.save(positionAt(AT + 1));
    await writer.write([frameOf('b', AT + 9)]);
    await writer.flush();
    positions.certify(finished, writer.place());
    expect(fieldsIn(`${finished}.trdr`)).toMatchObject({ verified: AT + 1, rows: 2 });
    await writer.close();
  });

  test('certify no file whose lines are no posts', async () => {
    const { out, positions, writer, positionAt } = await open({ hasPosts: false });
    positions.save(positionAt(AT + 1));
    positions.certify(`${out}.1`, writer.place());
    expect(existsSync(`${out}.1.trdr`)).toBe(false);
    await writer.close();
  });
});
