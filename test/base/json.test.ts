import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  copySources,
  numberSource,
  parseJson,
  setNumberSource,
  stringifyJson,
} from '../../src/base/json.ts';
import { holds } from '../fuzz/fuzz.ts';

const roundTrip = (text: string) => stringifyJson(parseJson(text));

describe('numbers', () => {
  test.each([
    ...'1.10 1.0 0.0 -0 -0.0 12345678901234567890 -9007199254740993 1e400 -1E+400'.split(' '),
    ...'90071992547409.93 123456.78901234567890123 0.1000000000000000055511151231257827'.split(' '),
    ...'0.00000012 100.5e1 1e5 1E-7'.split(' '),
  ])(
    '%s keeps its digits in an object, in an array, nested and next to exact numbers',
    (number) => {
      for (const text of [
        `{"a":${number}}`,
        `[${number}]`,
        `[1,${number},2]`,
        `{"b":{"c":[{"d":${number}},7]},"e":1.5,"f":"${number}"}`,
      ])
        expect(roundTrip(text)).toBe(text);
    },
  );

  test('are ordinary numbers in JavaScript', () => {
    const record = parseJson('{"a":1.10,"b":12345678901234567890,"c":1e400}');
    expect(record).toMatchObject({ a: 1.1, b: 12345678901234567000, c: Number.POSITIVE_INFINITY });
  });

  test('keep their digits in a copy of their record, as long as the copy has the same value', () => {
    const record = parseJson('{"a":1.10,"b":2.50}') as { a: number; b: number };
    expect(stringifyJson({ subject: 'x', ...record })).toBe('{"subject":"x","a":1.10,"b":2.50}');
    expect(stringifyJson({ ...record, b: 3 })).toBe('{"a":1.10,"b":3}');
  });

  test('keep their digits when members are copied one by one', () => {
    const record = parseJson('{"a":1.10}') as { a: number };
    expect(stringifyJson(copySources({ a: record.a, c: 1 }, record))).toBe('{"a":1.10,"c":1}');
    const other = { z: record.a };
    setNumberSource(other, 'z', numberSource(record, 'a') ?? '');
    expect(stringifyJson(other)).toBe('{"z":1.10}');
  });

  test('of duplicate keys come from the last key', () => {
    expect(roundTrip('{"a":1.0,"a":1}')).toBe('{"a":1}');
    expect(roundTrip('{"a":{"b":1.0},"a":{"b":1}}')).toBe('{"a":{"b":1}}');
    expect(roundTrip('{"a":{"b":1.0},"a":[2.0]}')).toBe('{"a":[2.0]}');
    expect(roundTrip('{"a":[1.0],"a":2}')).toBe('{"a":2}');
  });

  test('are found by keys with escapes', () => {
    expect(roundTrip('{"\\u0061\\"":1.0,"a":"\\\\","b":2.0}')).toBe(
      '{"a\\"":1.0,"a":"\\\\","b":2.0}',
    );
  });
});

describe('any JSON', () => {
  test('reads the same value as JSON.parse', () => {
    const numbers = fc.oneof(
      fc.double().map((value) => String(value)),
      fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/),
    );
    const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toString', '1', ''));
    const { text } = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { maxDepth: 4 },
        numbers.filter((number) => /^-?\d/.test(number)),
        fc.string().map((value) => JSON.stringify(value)),
        fc.constantFrom('true', 'false', 'null'),
        fc.array(tie('text'), { maxLength: 4 }).map((items) => `[ ${items.join(' ,\n')} ]`),
        fc
          .array(fc.tuple(names, tie('text')), { maxLength: 4 })
          .map(
            (members) =>
              `{${members.map(([name, value]) => `${JSON.stringify(name)} : ${value}`)}}`,
          ),
      ),
    }));
    // Wrap the value in a list, because an answer is never a bare number or text.
    holds(text, (inner) => {
      const json = `[${inner}]`;
      expect(JSON.stringify(parseJson(json))).toBe(JSON.stringify(JSON.parse(json)));
      // A written value is read back the same, including the digits of numbers.
      const once = roundTrip(json);
      expect(roundTrip(once)).toBe(once);
      expect(JSON.parse(once)).toEqual(JSON.parse(json));
    });
  });

  test('is written like JSON.stringify', () => {
    parseJson('[1.0]');
    holds(fc.object({ withBigInt: false, withDate: true, withNullPrototype: true }), (value) => {
      expect(stringifyJson(value)).toBe(JSON.stringify(value));
    });
    expect(stringifyJson(undefined)).toBe('null');
    expect(stringifyJson({ a: undefined, b: [undefined, () => 1], c: Number.NaN })).toBe(
      '{"b":[null,null],"c":null}',
    );
  });
});

describe('a member named __proto__', () => {
  test('is read and written, and changes no prototype', () => {
    const text = '{"__proto__":{"x":1.0},"y":1}';
    const value = parseJson(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(stringifyJson(value)).toBe(text);
  });
});

describe('text that is not JSON', () => {
  test.each(['', '{', '01', '[1.]', '{"a":1.0,}', 'NaN'])('%j is read as undefined', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });

  test('nested deeper than 200 levels is rejected', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1.0${']'.repeat(depth)}`;
    expect(roundTrip(nested(200))).toBe(nested(200));
    expect(parseJson(nested(201))).toBeUndefined();
    expect(parseJson(nested(100_000))).toBeUndefined();
  });
});
