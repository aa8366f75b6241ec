import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanRecord } from '../../src/tail/socket/scan.ts';

const SEED = process.env['SEED'] === undefined ? {} : { seed: Number(process.env['SEED']) };
const scan = (text: string) => scanRecord(Buffer.from(text));

/** The same bytes in the midst of others, as frames lie in what a connection brings. */
function among(bytes: Buffer, shift: number): Buffer {
  const around = Buffer.alloc(bytes.length + 8, 0x07);
  bytes.copy(around, shift);
  return around.subarray(shift, shift + bytes.length);
}

const record = fc
  .tuple(
    fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }),
    fc.option(fc.integer({ min: 0, max: 999_999_999_999_999 })),
    fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
  )
  .map(([id, platformCreatedAt, more]) => ({ ...more, id, platformCreatedAt }));

/** What parsing makes of a text: id and time of a record, or nothing. */
function parsed(text: string) {
  try {
    const { id, platformCreatedAt } = JSON.parse(text);
    return { id, at: platformCreatedAt ?? null };
  } catch {
    return undefined;
  }
}

describe('a scanned record', () => {
  test('is what parsing makes of it, whatever it holds', () => {
    fc.assert(
      fc.property(record, (value) => {
        const found = scan(JSON.stringify(value));
        if (found) expect(found).toEqual({ id: value.id, at: value.platformCreatedAt });
        // Only names of its own and ids that have to be escaped are left to the parser.
        const plain = [value.id, ...Object.keys(value)].every((text) => JSON.stringify(text) === `"${text}"`);
        if (plain) expect(found).not.toBeNull();
      }),
      SEED,
    );
  });

  test('is valid JSON, whatever byte of it was changed, lost or added', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1), fc.uint8Array({ maxLength: 2 }));
    const shifts = fc.integer({ min: 0, max: 7 });
    fc.assert(
      fc.property(record, change, shifts, (value, [at, less, more], shift) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const place = at % bytes.length;
        const changed = Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place + less)]);
        const found = scanRecord(among(changed, shift));
        if (found) expect(found).toEqual(parsed(changed.toString('utf8')));
      }),
      { ...SEED, numRuns: 2_000 },
    );
  });

  test.each([
    '{"id":"a"}',
    '{"platformCreatedAt":12,"id":"a"}',
    '{"id":"a","platformCreatedAt":null}',
    '{"id":"ä","x":[],"y":{},"z":[[{"a":[1,-0.5e+7,0,true,false,null]}]]}',
    '{"x":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00eF","id":"a"}',
    '{"id":"a","segments":[{"id":"b","platformCreatedAt":7}]}',
    `{"id":"a","x":${'['.repeat(28)}${']'.repeat(28)}}`,
  ])('is read without a parser: %s', (text) => {
    for (let shift = 0; shift < 8; shift++) {
      expect(scanRecord(among(Buffer.from(text), shift))).toEqual(parsed(text));
    }
  });

  test('with a control character anywhere is left to the parser', () => {
    const bytes = Buffer.from('{"id":"a","platformCreatedAt":1,"thesis":"some text","x":{"y":null}}');
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes);
      changed[place] = 0x1f;
      for (let shift = 0; shift < 4; shift++) expect(scanRecord(among(changed, shift))).toBeNull();
    }
  });

  test.each([
    ['whose id or name has an escape', '{"id":"a\\u0062"}'],
    ['whose id comes twice', '{"id":"a","id":"b"}'],
    ['whose time comes twice', '{"id":"a","platformCreatedAt":1,"platformCreatedAt":2}'],
    ['whose time is no whole number', '{"id":"a","platformCreatedAt":1.5}'],
    ['whose time is text', '{"id":"a","platformCreatedAt":"1"}'],
    ['whose time is a list', '{"id":"a","platformCreatedAt":[]}'],
    ['whose time is past what a number holds', '{"id":"a","platformCreatedAt":12345678901234567890}'],
    ['with room between its parts', '{"id": "a"}'],
    ['over several lines', '{"id":"a",\n"x":1}'],
    ['that is deep', `{"id":"a","x":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['without an id', '{"x":1}'],
    ['with an empty id', '{"id":""}'],
    ['with another id', '{"id":7}'],
    ['that is empty', '{}'],
    ['that is a list', '["id"]'],
    ['that goes on', '{"id":"a"}}'],
    ['that is cut', '{"id":"a"'],
    ['with a bare word', '{"id":"a","x":nul1}'],
    ['with a number of no form', '{"id":"a","x":01}'],
    ['with a number that ends in its point', '{"id":"a","x":1.}'],
    ['with a number that ends in its exponent', '{"id":"a","x":1e+}'],
    ['with a lone minus', '{"id":"a","x":-}'],
    ['with an unknown escape', '{"id":"a","x":"\\x"}'],
    ['with an escape that is cut', '{"id":"a","x":"\\u00g0"}'],
    ['with a control character', '{"id":"a","x":"\u0007"}'],
    ['with a comma too many', '{"id":"a",}'],
    ['with brackets crossed', '{"id":"a","x":[1}}'],
  ])('is left to the parser: one %s', (_, text) => {
    expect(scan(text)).toBeNull();
  });
});
