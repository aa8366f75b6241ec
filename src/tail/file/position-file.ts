import { inWords, statsOf } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { type Position, positionText } from '../position.ts';

export interface TailFiles {
  readonly out: string | undefined;
  readonly checkpoint: string | undefined;
}

/** Undefined for pipes and devices, from which no run can resume. */
export function resumableOut(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const stats = statsOf(path);
  return stats === undefined || stats.isFile() || stats.isDirectory() ? path : undefined;
}

interface FeedService {
  readonly scope?: { readonly baseUrl: string } | undefined;
}

/** The name of a feed in positions and certificates, with its service. */
export const feedOf = (name: string, { scope }: FeedService): string =>
  `${name} of ${scope?.baseUrl ?? 'a service'}`;

/** Where the position of a tail is saved: in the checkpoint, or beside its output. */
export const positionPath = ({ out, checkpoint }: TailFiles): string | undefined =>
  checkpoint ?? (out === undefined ? undefined : `${out}.trdr`);

export function savePosition(path: string, position: Position): void {
  try {
    writeAtomic(path, positionText(position), { private: false });
  } catch (error) {
    throw inWords('write', path, error);
  }
}
