import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { fileFailure, statsOf } from '../../base/files.ts';
import { plainJson } from '../../base/json-object.ts';
import { issuesText } from '../../contract/issue-text.ts';
import { Board, Callout, LaunchpadUser } from '../../contract/records/launchpad.ts';
import { Pnl } from '../../contract/records/pnl.ts';
import { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import { User } from '../../contract/records/user.ts';
import type { WorldRecords } from './source.ts';

const names = ['users', 'theses', 'pnl', 'callouts', 'launchpad-users', 'boards'] as const;
/** The first users of the file are the sample accounts, whose wallets a free key can reveal. */
const SAMPLES = 10;
const RECORD_HINT =
  'write records as the service sends them; its OpenAPI document describes their fields';

export function loadRecords(dir: string): WorldRecords {
  const folder = statsOf(dir);
  if (!folder) throw usageError(`the folder ${dir} does not exist`, 'check the path');
  if (!folder.isDirectory())
    throw usageError(
      `${dir} is not a folder`,
      'use a folder that contains, for example, users.ndjson',
    );
  const fileOf = (name: string) => join(dir, `${name}.ndjson`);
  if (!names.some((name) => existsSync(fileOf(name)))) {
    throw usageError(
      `${dir} contains no data files`,
      `add at least one of these files: ${names.join('.ndjson, ')}.ndjson`,
    );
  }
  const read = <T>(name: (typeof names)[number], schema: z.ZodMiniType<T>): T[] =>
    existsSync(fileOf(name)) ? readNdjson(fileOf(name), schema, RECORD_HINT) : [];
  const users = read('users', User);
  const [numbers, theses] = [read('pnl', Pnl), read('theses', Thesis)];
  const [callouts, boards] = [read('callouts', Callout), read('boards', Board)];
  const accounts = read('launchpad-users', LaunchpadUser);
  return {
    users,
    // A live search does not find wallets that are not in the file.
    unverified: new Map(),
    identitiesAt: () => new Map(),
    samples: new Set(users.slice(0, SAMPLES).map(({ id }) => id)),
    numbers: () => numbers,
    theses: () => theses,
    callouts: () => callouts,
    accounts: () => accounts,
    boards: () => boards,
  };
}

export const readRecording = (file: string): readonly ThesisFrameData[] =>
  readNdjson(file, ThesisFrameData, 'use a file that "trdr thesis tail" wrote as NDJSON');

function readNdjson<T>(file: string, schema: z.ZodMiniType<T>, hint: string): T[] {
  return readText(file)
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const where = `${file}:${index + 1}`;
      const json = plainJson(line);
      if (json === undefined)
        throw usageError(`${where} is not valid JSON`, 'write one complete JSON object per line');
      const parsed = schema.safeParse(json);
      if (parsed.success) return [parsed.data];
      const problem = issuesText(parsed.error.issues, 'the line');
      throw usageError(`${where} is not a valid record: ${problem}`, hint);
    });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (cause) {
    throw usageError(
      fileFailure('read', file, cause).message,
      'use the path of a readable NDJSON file',
    );
  }
}
