import { type FileHandle, open } from 'node:fs/promises';

/** The file of a journal: its lines, followed by line breaks that reserve disk space. */
export interface JournalFile {
  /** The position after the last line, where the next one begins. */
  end(): number;
  /**
   * Reserves `bytes` of disk space after the last line. Throws if the disk is full; the lines are then
   * unchanged.
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Appends text after the last line and syncs the file. If this fails, tries to remove the text from the file, and
   * throws.
   */
  append(text: string): Promise<void>;
  /** Reads a part of the file; fastest for consecutive parts. */
  read(at: number, length: number): Promise<string>;
  close(): Promise<void>;
}

const FILLER = '\n'.repeat(64 * 1024);
const WINDOW = 256 * 1024;

/**
 * Opens the file of a journal whose last valid line ends at `from`, and removes everything after that
 * position.
 */
export async function openJournalFile(path: string, from: number): Promise<JournalFile> {
  const handle = await open(path, 'r+');
  let end = from;
  let size = (await handle.stat()).size;
  let window = Buffer.alloc(0);
  let start = 0;
  try {
    // A crash may have cut off the line break of the last line.
    if (size < end) await writeAt(handle, Buffer.from('\n'), end - 1);
    else await handle.truncate(end);
    size = end;
  } catch (error) {
    await handle.close();
    throw error;
  }

  /** Overwrites a failed write with line breaks, which needs no additional disk space. */
  async function blank(length: number): Promise<void> {
    const kept = Math.max(0, Math.min(length, size - end));
    await writeAt(handle, Buffer.alloc(kept, '\n'), end);
    await handle.truncate(size);
  }

  return {
    end: () => end,
    async reserve(bytes) {
      while (size < end + bytes) {
        const piece = Buffer.from(FILLER.slice(0, end + bytes - size));
        await writeAt(handle, piece, size);
        size += piece.length;
      }
    },
    async append(text) {
      const bytes = Buffer.from(text);
      try {
        await writeAt(handle, bytes, end);
        await handle.datasync();
      } catch (error) {
        await blank(bytes.length).catch(() => {});
        throw error;
      }
      end += bytes.length;
      size = Math.max(size, end);
    },
    async read(at, length) {
      if (at < start || at + length > start + window.length) {
        const room = Buffer.allocUnsafe(Math.max(WINDOW, length));
        let done = 0;
        for (let read = -1; read !== 0 && done < room.length; done += read) {
          read = (await handle.read(room, done, room.length - done, at + done)).bytesRead;
        }
        start = at;
        window = room.subarray(0, done);
      }
      return window.toString('utf8', at - start, at - start + length);
    },
    close: () => handle.close(),
  };
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
