import { devNull } from 'node:os';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { atLimit } from '../../../src/cli/tail/at-limit.ts';

const hintFor = (out: string) => {
  const run = {
    io: { argv: ['thesis', 'tail', '--out', out] },
    globals: { out },
    settings: { maxCu: 500 },
  };
  const failure = new Failure('limit', 'the next call may cost 200 CU', { code: 'CEILING' });
  const status = { spent: { cu: 400, atMost: 400 }, verified: Date.UTC(2026, 10, 22) };
  const reported = atLimit(failure, run, undefined, status);
  return reported instanceof Failure ? reported.hint : undefined;
};

test.each([
  [
    'a file, which resumes by itself',
    'no-such.ndjson',
    'run the same command again: it continues from no-such.ndjson',
  ],
  ['a device, which cannot resume', devNull, '--since 2026-11-22T00:00:00.000Z'],
])('at its limit, a tail with --out to %s', (_, out, hint) => {
  expect(hintFor(out)).toContain(hint);
});
