import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usage } from '../../../contract/failure.ts';
import { Board, Callout, LaunchpadUser } from '../../../contract/records/launchpad.ts';
import { Pnl } from '../../../contract/records/pnl.ts';
import { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import { User } from '../../../contract/records/user.ts';
import { seedOf } from '../hash.ts';
import type { World, WorldOptions } from '../types.ts';
import { loadedLaunchpad } from './launchpad.ts';
import { readNdjson } from './ndjson.ts';
import { loadedTheses } from './theses.ts';
import { loadedUsers } from './users.ts';

/** What each file of a user's own data holds. */
const files = {
  users: 'users.ndjson',
  theses: 'theses.ndjson',
  pnl: 'pnl.ndjson',
  callouts: 'callouts.ndjson',
  launchpadUsers: 'launchpad-users.ndjson',
  boards: 'boards.ndjson',
} as const;

/** Reads a world from a folder of NDJSON files, each of them optional: what is absent is empty. */
export function loadWorld(dir: string, options: WorldOptions): World {
  const names = Object.values(files);
  if (!names.some((name) => existsSync(join(dir, name)))) {
    throw usage(`${dir} holds no data.`, `It may hold ${names.join(', ')}; at least one of them.`);
  }
  const read = <T>(name: string, schema: Parameters<typeof readNdjson<T>>[1]): T[] =>
    existsSync(join(dir, name)) ? readNdjson(join(dir, name), schema) : [];
  const seed = seedOf(options.seed);
  const users = loadedUsers(read(files.users, User), read(files.pnl, Pnl), options.socials ?? false);
  return {
    users: users.api,
    pnl: users.pnl,
    theses: loadedTheses(seed, read(files.theses, Thesis), users.records),
    launchpad: loadedLaunchpad(
      seed,
      read(files.launchpadUsers, LaunchpadUser),
      read(files.callouts, Callout),
      read(files.boards, Board),
    ),
  };
}

/** Reads a recorded feed, one thesis a line as the tail prints them, in the order of the file. */
export const readRecording = (file: string): readonly ThesisFrameData[] => readNdjson(file, ThesisFrameData);
