import { open, stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { Failure } from '../base/failure.ts';
import { LineDigest } from '../base/line-digest.ts';
import { countText, group } from '../base/units.ts';
import { DAMAGED, notReadable, openInput, unpacked } from '../input/read-text.ts';
import type { Certificate } from '../tail/certificate.ts';
import { certificateAt } from '../tail/file/certify.ts';
import { postIn } from '../tail/file/line-count.ts';
import { PostIds } from './post-ids.ts';

type FoundCertificate = Certificate | 'damaged' | undefined;

/** What is in a file, and how it differs from its certificate. */
export interface ScannedFile {
  readonly file: string;
  /** Undefined if there is none, or if it is damaged. */
  readonly certificate: Certificate | undefined;
  readonly rows: number;
  /** The number of posts that are in the file more than once. */
  readonly duplicates: number;
  readonly problems: readonly string[];
  /** What limits the statements about a file without being a problem. */
  readonly notes: readonly string[];
}

const LONGEST_LINE = 16 * 1024 * 1024;
const TRIES = 3;

/** Reads a file, plain or gzipped, compares it with its certificate, and adds its ids to `all`. */
export async function scanFile(
  file: string,
  all: PostIds,
  signal: AbortSignal,
): Promise<ScannedFile> {
  for (let attempt = 1; ; attempt++) {
    const certificate = certificateOf(file);
    const ids = new PostIds();
    const scanned = await scanWith(file, certificate, ids, signal);
    // A running tail may have replaced the certificate, or finished the file, while it was read.
    const isSame = JSON.stringify(certificateOf(file)) === JSON.stringify(certificate);
    if (scanned.problems.length > 0 && !isSame && attempt < TRIES) continue;
    all.addAll(ids);
    return scanned;
  }
}

/** The certificate beside a file, which may have been compressed since. */
export const certificateOf = (file: string): FoundCertificate =>
  certificateAt(file) ??
  (file.endsWith('.gz') ? certificateAt(file.slice(0, -'.gz'.length)) : undefined);

async function scanWith(
  file: string,
  beside: FoundCertificate,
  ids: PostIds,
  signal: AbortSignal,
): Promise<ScannedFile> {
  const certificate = beside === 'damaged' ? undefined : beside;
  const scan = new LineScan(certificate?.lines, ids);
  const problems: string[] = [];
  try {
    for await (const chunk of chunksOf(file, signal)) {
      scan.add(chunk);
      if (scan.torn > LONGEST_LINE) throw notPosts(file);
    }
  } catch (error) {
    if (!(error instanceof Failure && error.code === DAMAGED)) throw error;
    problems.push('the compressed file is damaged');
  }
  const { rows, torn } = scan;
  const duplicates = ids.countRepeated();
  problems.push(...scan.problems());
  if (duplicates > 0) problems.push(`${countText(duplicates, 'post')} more than once`);
  const notes: string[] = [];
  if (beside === 'damaged') notes.push('its certificate is damaged');
  if (beside === undefined) notes.push(`there is no certificate ${file}.trdr`);
  if (torn > 0) notes.push('it ends with an incomplete line, which a tail would remove');
  const later = certificate ? rows - certificate.lines.rows : 0;
  if (later > 0 && problems.length === 0)
    notes.push(`its last ${countText(later, 'post')} are not verified yet`);
  return { file, certificate, rows, duplicates, problems, notes };
}

/** Compares the lines of a file with those that its certificate is about, while it is read. */
class LineScan {
  readonly #certified: Certificate['lines'] | undefined;
  readonly #ids: PostIds;
  readonly #digest = new LineDigest();
  /** The digest after as many lines as the certificate is about. */
  #certifiedDigest: string | undefined;
  /** The number of lines that are no posts. */
  #others = 0;

  constructor(certified: Certificate['lines'] | undefined, ids: PostIds) {
    this.#certified = certified;
    this.#ids = ids;
    if (certified?.rows === 0) this.#certifiedDigest = this.#digest.digest;
  }

  get rows(): number {
    return this.#digest.rows;
  }

  /** The bytes after the last end of a line. */
  get torn(): number {
    return this.#digest.torn;
  }

  add(chunk: Buffer): void {
    this.#digest.add(chunk, (line) => this.#addLine(line));
  }

  /** How the lines differ from those of the certificate. */
  problems(): string[] {
    const problems: string[] = [];
    const certified = this.#certified;
    if (certified && this.rows < certified.rows)
      problems.push(
        `${group(certified.rows)} posts were written, and ${group(this.rows)} are there`,
      );
    else if (certified && this.#certifiedDigest !== certified.digest)
      problems.push('its lines are not those that were written');
    if (this.#others > 0)
      problems.push(`${countText(this.#others, 'line')} without the id of a post`);
    return problems;
  }

  #addLine(line: Buffer): void {
    if (this.rows === this.#certified?.rows) this.#certifiedDigest = this.#digest.digest;
    const id = idBytes(line);
    if (id) this.#ids.add(id);
    else this.#others++;
  }
}

const notPosts = (file: string) =>
  new Failure('usage', `${file} is not a file of posts: it has a line of more than 16 MB`, {
    code: 'NOT_POSTS',
    hint: 'verify files that "thesis tail --out" or "thesis list --out" wrote as NDJSON',
  });

const ID_FIRST = Buffer.from('{"id":"');
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

function idBytes(line: Buffer): Uint8Array | undefined {
  // The service writes the id first. Parsing each line would take three times as long.
  if (
    line.length > ID_FIRST.length &&
    line.compare(ID_FIRST, 0, ID_FIRST.length, 0, ID_FIRST.length) === 0
  ) {
    const end = line.indexOf(QUOTE, ID_FIRST.length);
    const id = line.subarray(ID_FIRST.length, end);
    if (end > ID_FIRST.length && !id.includes(BACKSLASH)) return id;
  }
  const row = postIn(line);
  return row ? Buffer.from(row.id) : undefined;
}

const CHUNK = 128 * 1024;

/**
 * The content of a file or a pipe, unpacked if it is gzipped. A chunk is valid until the next one
 * is requested.
 */
export async function* chunksOf(
  file: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  try {
    const isPipe = (await stat(file)).isFIFO();
    yield* unpacked(isPipe ? readPipe(file, signal) : readFile(file, signal), file);
  } catch (error) {
    signal.throwIfAborted();
    throw notReadable(file, error);
  }
}

async function* readFile(file: string, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  const handle = await open(file, 'r');
  try {
    const chunk = Buffer.allocUnsafeSlow(CHUNK);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(chunk, 0, CHUNK, null);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Opening or reading a FIFO as a file would wait for a writer, whatever the signal. */
async function* readPipe(file: string, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  yield* addAbortSignal(signal, await openInput(file));
}
