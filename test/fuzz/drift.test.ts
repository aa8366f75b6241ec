import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../src/base/json-object.ts';
import { driftValue } from '../../src/sandbox/faults/drift.ts';
import { outputFormats } from '../../src/state/config/settings-table.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { openHome, runInProcess, withoutReading } from '../e2e/harness.ts';
import * as valid from '../e2e/records.ts';
import { anyMe, type FakeService, withService } from '../e2e/service.ts';
import { repeats, SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';

type Json = Record<string, unknown>;
/** The expected output; undefined if the answer is not a valid record, so that the run exits 9. */
type Expected = readonly unknown[] | undefined;

interface Scenario {
  readonly words: readonly string[];
  /** A valid answer. */
  readonly valid: () => unknown;
  readonly status?: number;
  /** The records that the command must print for an answer. */
  readonly expected: (answer: unknown) => Expected;
  /** The maximum number of paid calls. */
  readonly calls: number;
  /** Flags of formats for people and spreadsheets, one of which is picked. */
  readonly flags?: readonly (readonly string[])[];
}

/** The number of rounds of a scenario. Each round tries every format. */
const ROUNDS = Math.max(1, Math.ceil(repeats('FUZZ_RUNS', 0, 2_000) / 40));
const TIMEOUT_MS = 60_000 + ROUNDS * 10_000;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasAny = (value: unknown, ...names: readonly string[]): value is Json =>
  isObject(value) && names.some((name) => value[name] !== undefined && value[name] !== null);
const hasList = (value: unknown, name: string): value is Json =>
  isObject(value) && (Array.isArray(value[name]) || value[name] === null);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const HANDLES = ['mira', 'Quiet', 'solwolf', 'nosuch'];

const found = (subject: string, record: Json) => [{ ...record, subject, found: true }];
const oneUser = (subject: string) => (answer: unknown) =>
  hasAny(answer, 'id', 'handle', 'solanaAddress', 'evmAddress')
    ? found(subject, answer)
    : undefined;

/** The items, without repeated ids. */
function itemsOf(answer: unknown, count: number): Expected {
  if (!hasList(answer, 'items')) return undefined;
  const ids = new Set<unknown>();
  return listOf(answer['items'])
    .filter(isObject)
    .filter(({ id }) => typeof id !== 'string' || id === '' || (!ids.has(id) && ids.add(id)))
    .slice(0, count);
}

function batchOf(answer: unknown): Expected {
  if (!hasList(answer, 'entries') && !hasList(answer, 'missing')) return undefined;
  const name = (value: unknown) =>
    typeof value === 'string' ? value.replace(/^@/, '').toLowerCase() : '';
  const entries = listOf(answer['entries']);
  const missing = listOf(answer['missing']);
  if (entries.length + missing.length === 0) return undefined;
  return HANDLES.map((subject) => {
    const own = entries.filter(isObject).find(({ handle }) => name(handle) === name(subject));
    if (own) return found(subject, own)[0];
    if (missing.some((handle) => name(handle) === name(subject)))
      return { subject, found: false, code: 'NOT_OBSERVED' };
    return expect.objectContaining({ subject, found: null });
  });
}

const entriesOf = (answer: unknown): Expected =>
  hasList(answer, 'entries') ? listOf(answer['entries']).filter(isObject) : undefined;

const scenarios: Readonly<Record<string, Scenario>> = {
  'a handle': {
    words: ['whois', 'mira'],
    valid: () => valid.user,
    expected: oneUser('mira'),
    calls: 1,
  },
  'a wallet': {
    words: ['whois', valid.WALLET, '--direct'],
    valid: () => valid.user,
    expected: oneUser(valid.WALLET),
    calls: 1,
  },
  'a user id': {
    words: ['whois', valid.USER_ID],
    valid: () => valid.user,
    expected: oneUser(valid.USER_ID),
    calls: 1,
  },
  'a resolve': {
    words: ['resolve', 'mira', '--direct', '--no-wait', '--max-cu', '30k'],
    valid: () => valid.user,
    expected: (answer) =>
      oneUser('mira')(answer)?.map((record) => ({ ...(record as Json), source: 'live' })),
    calls: 1,
  },
  'a pending resolve': {
    words: ['resolve', 'mira', '--direct', '--no-wait', '--max-cu', '30k'],
    valid: () => valid.pending,
    status: 202,
    expected: () => [expect.objectContaining({ subject: 'mira', found: false, code: 'PENDING' })],
    calls: 1,
  },
  "a trader's numbers": {
    words: ['pnl', 'mira', '--max-cu', '30k'],
    flags: [
      [],
      ['--window', 'all'],
      ['--fields', 'handle,windows.all.netUsd'],
      ['--fields', 'windows.24h.rank'],
    ],
    valid: () => valid.numbers('mira'),
    expected: (answer) => (hasAny(answer, 'handle', 'windows') ? found('mira', answer) : undefined),
    calls: 1,
  },
  'a batch of numbers': {
    words: ['pnl', ...HANDLES, '-y'],
    valid: valid.batch,
    expected: batchOf,
    calls: 1,
    flags: [[], ['--sort', 'rank', '--window', '24h'], ['--sort', 'netUsd'], ['--window', '24h']],
  },
  'a page of theses': {
    words: ['thesis', 'list', '--limit', '5'],
    valid: () => valid.page([1, 2, 3, 4, 5].map(valid.thesis)),
    expected: (answer) => itemsOf(answer, 5),
    calls: 4,
    flags: [
      [],
      ['--fields', 'id,thesis,likeCount'],
      ['--fields', 'platformCreatedAt,authorHandle'],
    ],
  },
  'a page of callouts': {
    words: ['launchpad', 'callouts', '--limit', '3'],
    valid: () => valid.page([1, 2, 3].map(valid.callout)),
    expected: (answer) => itemsOf(answer, 3),
    calls: 4,
  },
  'a launchpad user': {
    words: ['launchpad', 'user', valid.WALLET],
    valid: () => valid.launchpadUser,
    expected: (answer) =>
      hasAny(answer, 'wallet', 'username', 'xUsername', 'id', 'handle')
        ? found(valid.WALLET, answer)
        : undefined,
    calls: 1,
  },
  'a board': { words: ['launchpad', 'board'], valid: valid.board, expected: entriesOf, calls: 1 },
  'two boards': {
    words: ['launchpad', 'board', '--compare', '7d'],
    valid: valid.board,
    expected: (answer) => entriesOf(answer)?.map((each) => expect.objectContaining(each as Json)),
    calls: 2,
  },
  "the key's record": {
    words: ['me'],
    valid: () => anyMe,
    expected: (answer) => [answer],
    calls: 0,
  },
};

const AS_OF = '2026-05-15T12:00:00.000Z';

/** Leaves out what a row takes over from the envelope and from the board on which it stands. */
const withoutPlace =
  (answer: unknown) =>
  (row: unknown): unknown => {
    if (!isRecord(row) || 'asymmetricMatch' in row) return row;
    const { period, capturedAt } = isRecord(answer) ? answer : {};
    const taken: Record<string, unknown> = { asOf: AS_OF, period, capturedAt };
    const own = Object.entries(row).filter(
      ([name, value]) => !Object.hasOwn(taken, name) || !isDeepStrictEqual(value, taken[name]),
    );
    return Object.fromEntries(own);
  };

/** A modified answer, bare or in an envelope; it remains an object. */
function tampered(
  scenario: Scenario,
  random: () => number,
): { readonly answer: unknown; readonly body: unknown } {
  const answer: unknown = structuredClone(scenario.valid());
  driftValue(answer, random, 1 + Math.floor(random() * 6), new Set());
  const isWrapped = random() < 0.3;
  const meta = { asOf: AS_OF, requestId: 'r1' };
  return { answer, body: isWrapped ? { data: answer, meta } : answer };
}

describe.each(Object.entries(scenarios))(
  '%s that differs from its description',
  (name, scenario) => {
    test(
      'is delivered unchanged, charged once, and shown without an error',
      async () => {
        let body: unknown;
        const service: FakeService = await withService(
          ({ path }) =>
            path.includes('before=')
              ? { body: valid.page([]) }
              : { status: scenario.status ?? 200, body },
          { ownMe: name === "the key's record" },
        );
        for (let round = 0; round < ROUNDS; round++) {
          const random = rngOf(SEED + round).next;
          const tampering = tampered(scenario, random);
          body = tampering.body;
          const expected = scenario.expected(tampering.answer);
          for (const format of outputFormats) {
            const before = service.calls.length;
            const home = openHome();
            const isShown = format !== 'ndjson' && format !== 'json';
            const flags = scenario.flags?.[Math.floor(random() * scenario.flags.length)] ?? [];
            const ran = await runInProcess(
              [...scenario.words, '-o', format, ...(isShown ? flags : [])],
              {
                sandbox: service,
                home,
                clock: virtualClock(),
                random: () => 0.5,
                tty: isShown && random() < 0.5,
                columns: 40 + Math.floor(random() * 120),
              },
            );
            const shown = `SEED=${SEED + round} ${scenario.words.join(' ')} -o ${format}: ${ran.exitCode}\n${JSON.stringify(body)}\n${ran.stdout.slice(0, 300)}\n${ran.stderr}`;
            expect(ran.stdout + ran.stderr, shown).not.toMatch(
              /\bundefined\b|\bNaN\b|\[object|"code":"BUG"/,
            );
            expect(service.calls.length - before, shown).toBeLessThanOrEqual(scenario.calls);
            if (expected === undefined) {
              expect(ran.exitCode, shown).toBe(9);
              continue;
            }
            // A batch in which no handle was found exits 3; a pending resolve exits 8.
            const ends = name === 'a batch of numbers' ? [0, 3, 9] : [0, 8, 9];
            expect(ends, shown).toContain(ran.exitCode);
            const rows = (printed: readonly unknown[]) =>
              printed.map(withoutPlace(tampering.answer));
            if (format === 'ndjson') expect(rows(ran.records()), shown).toEqual(rows(expected));
            else if (format === 'json')
              expect(rows([ran.json()].flat()), shown).toEqual(rows(expected));
            else if (expected.length > 0) expect(ran.lines().length, shown).toBeGreaterThan(0);
          }
        }
      },
      TIMEOUT_MS,
    );
  },
);

test(
  'an export delivers a batch as its stream does, and pays for it once',
  async () => {
    let body: unknown;
    const service = await withService(() => ({ body }));
    for (let round = 0; round < ROUNDS; round++) {
      const tampering = tampered(
        { ...(scenarios['a batch of numbers'] as Scenario) },
        rngOf(SEED + round).next,
      );
      body = tampering.body;
      const home = openHome();
      const out = join(home.path, 'n.ndjson');
      const before = service.calls.length;
      const words = ['pnl', ...HANDLES, '--out', out, '--yes'];
      const ran = await runInProcess(words, { sandbox: service, home, clock: virtualClock() });
      const shown = `SEED=${SEED + round}: ${ran.exitCode}\n${JSON.stringify(body)}\n${ran.stderr}`;
      const expected = batchOf(tampering.answer);
      expect(ran.stderr, shown).not.toMatch(/\bundefined\b|\bNaN\b|\[object|"code":"BUG"/);
      expect(service.calls.length - before, shown).toBe(1);
      if (expected === undefined) {
        expect(ran.exitCode, shown).toBe(9);
        continue;
      }
      const written = existsSync(out) ? readFileSync(out, 'utf8').trimEnd().split('\n') : [];
      if (ran.exitCode === 0)
        expect(
          written.map((line) => withoutPlace(tampering.answer)(JSON.parse(withoutReading(line)))),
          shown,
        ).toEqual(expected);
      else expect([3, 9], shown).toContain(ran.exitCode);
    }
  },
  TIMEOUT_MS,
);
