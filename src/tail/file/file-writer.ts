import type { Records } from '../../output/format/printing.ts';
import { PrintWriter, type SharedTerminal } from '../output/print-writer.ts';
import type { FilePlace } from '../position.ts';
import type { PostFields, TailRow } from '../post-row.ts';
import type { FollowedFile } from './followed-file.ts';

/** Writes rows to a file from which a later run can continue. */
export class FileWriter extends PrintWriter {
  readonly #file: Pick<FollowedFile, 'place' | 'saw'>;
  readonly #hasPosts: boolean;

  /** `hasPosts`: the lines are posts. Only then is there a certificate of them. */
  constructor(
    printer: Records<PostFields>,
    terminal: SharedTerminal,
    file: Pick<FollowedFile, 'place' | 'saw'>,
    hasPosts: boolean,
  ) {
    super(printer, terminal);
    this.#file = file;
    this.#hasPosts = hasPosts;
  }

  override write(rows: readonly TailRow[]): boolean | Promise<boolean> {
    for (const { at } of rows) this.#file.saw(at);
    return super.write(rows);
  }

  place(): FilePlace {
    const { dev, ino, offset, lines } = this.#file.place();
    return this.#hasPosts ? { dev, ino, offset, lines } : { dev, ino, offset };
  }
}
