import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../../../base/failure.ts';
import { statsOf } from '../../../base/files.ts';
import { Board, Callout, LaunchpadUser } from '../../../contract/records/launchpad.ts';
import { Pnl } from '../../../contract/records/pnl.ts';
import { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import { User } from '../../../contract/records/user.ts';
import { seedOf } from '../hash.ts';
import type { WorldSource } from '../source.ts';
import { loadedLaunchpad } from './launchpad.ts';
import { readNdjson } from './ndjson.ts';
import { loadedTheses } from './theses.ts';
import { loadedNumbers, loadedUsers } from './users.ts';

const files = {
  users: 'users.ndjson',
  theses: 'theses.ndjson',
  pnl: 'pnl.ndjson',
  callouts: 'callouts.ndjson',
  launchpadUsers: 'launchpad-users.ndjson',
  boards: 'boards.ndjson',
} as const;

const RECORD_HINT = 'write records as the service sends them; its OpenAPI document describes their fields';

/** Reads the records of a world from a folder of NDJSON files. */
export function loadedSource(dir: string, seedNumber: number): WorldSource {
  const names = Object.values(files);
  const folder = statsOf(dir);
  if (!folder) throw usageError(`the folder ${dir} does not exist`, 'check the path');
  if (!folder.isDirectory())
    throw usageError(`${dir} is not a folder`, `use a folder that contains, for example, ${files.users}`);
  if (!names.some((name) => existsSync(join(dir, name)))) {
    throw usageError(`${dir} contains no data files`, `add at least one of these files: ${names.join(', ')}`);
  }
  const read = <T>(name: string, schema: Parameters<typeof readNdjson<T>>[1]): T[] =>
    existsSync(join(dir, name)) ? readNdjson(join(dir, name), schema, RECORD_HINT) : [];
  const seed = seedOf(seedNumber);
  const users = loadedUsers(read(files.users, User));
  const numbers = loadedNumbers(users, read(files.pnl, Pnl));
  const theses = read(files.theses, Thesis);
  const launchpad = loadedLaunchpad(
    seed,
    read(files.launchpadUsers, LaunchpadUser),
    read(files.callouts, Callout),
    read(files.boards, Board),
  );
  return {
    users,
    history: (store) => ({ numbers, theses: loadedTheses(seed, theses, store) }),
    launchpad: () => launchpad,
  };
}

/** Reads a recorded feed: one thesis per line, as printed by `trdr thesis tail`. */
export const readRecording = (file: string): readonly ThesisFrameData[] =>
  readNdjson(file, ThesisFrameData, 'use a file that "trdr thesis tail" wrote as NDJSON');
