import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync } from 'node:fs';
import { Failure } from '../../base/failure.ts';
import { readCheckpoint } from '../../tail/output/checkpoint.ts';
import { type LineForm, mergeResume, readTailFile } from '../../tail/output/out-file.ts';
import { timing } from '../../tail/timing.ts';
import type { Resume } from '../../tail/walk/bounds.ts';

/** Where a tail goes on from. */
export interface ResumeFrom {
  readonly out: string | undefined;
  readonly checkpoint: string | undefined;
  readonly feed: string;
  readonly timeField: string;
  readonly now: number;
}

/** Reads where an earlier run stopped; cuts a line of the file that was torn by a crash. */
export async function readResume({
  out,
  checkpoint,
  feed,
  timeField,
  now,
}: ResumeFrom): Promise<Resume | undefined> {
  const text = checkpoint === undefined ? undefined : textOf(checkpoint);
  const kept = text === undefined ? undefined : readCheckpoint(text, feed);
  return mergeResume(
    kept,
    out === undefined ? undefined : await readFile(out, { timeField, now }, kept?.floor),
  );
}

async function readFile(
  path: string,
  form: LineForm,
  wanted: number | undefined,
): Promise<Resume | undefined> {
  let fd: number;
  try {
    fd = openSync(path, 'r+');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileFailure(path, error);
  }
  try {
    const { size } = fstatSync(fd);
    const { keep, resume } = await readTailFile(
      {
        size,
        async read(from, to) {
          const bytes = Buffer.alloc(to - from);
          return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
        },
      },
      form,
      timing,
      wanted,
    );
    if (keep < size) {
      checkTorn(fd, keep, path);
      ftruncateSync(fd, keep);
    }
    return resume;
  } finally {
    closeSync(fd);
  }
}

/** Cuts nothing that a tail can't have written: a torn line begins as a record does, or with a power cut's NULs. */
function checkTorn(fd: number, at: number, path: string): void {
  const first = Buffer.alloc(1);
  readSync(fd, first, 0, 1, at);
  if (first[0] === 0x7b || first[0] === 0) return;
  throw new Failure('local', `${path} is no file of a tail: it ends in something else than a record`, {
    code: 'TAIL_FILE',
    hint: 'name another file; this one is left as it is',
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileFailure(path, error);
  }
}

const isAbsent = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const fileFailure = (path: string, cause: unknown) =>
  new Failure('local', `${path} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
    code: 'FILE',
    hint: 'check its permissions, or name another file',
    cause,
  });
