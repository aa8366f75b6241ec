import fc from 'fast-check';
import { codePoints } from '../code-points.ts';
import { repeats } from '../repeats.ts';

/** Checks a property; a failure prints its seed, and SEED repeats it. FUZZ_RUNS runs more. */
export function check<Ts extends [unknown, ...unknown[]]>(
  property: fc.IProperty<Ts> | fc.IAsyncProperty<Ts>,
) {
  const seed = process.env['SEED'];
  const numRuns = repeats('FUZZ_RUNS', 50, 20_000);
  return fc.assert(property, { numRuns, ...(seed === undefined ? {} : { seed: Number(seed) }) });
}

/** Text that is harmful or hard to handle. */
const hostile = [
  ['\x1b[31m', '\x1b]0;title\x07', '\x1b]8;;http://a\x1b\\', '\x1bP1$r\x1b\\', '\x9b2J'],
  ['\x9d0;t\x9c', '\x90', '\x1b', '\x1bc', '\x1b(0', '\u202e', '\u2066', '\u200f', '\u061c'],
  ['\u200b', '\u200d', '\u200c', '\ufeff', '\u2060', '\u3164', '\u{e0041}', '\u{e0001}', '\r'],
  ['\n', '\t', '\v', '\f', '\b', '\0', '\x7f', '\x85', '\u2028', '\u2029', '\ud800', '\udc00'],
  ['e\u0301\u0301\u0301\u0301\u0301\u0301', '🚀', '👨‍👩‍👧‍👦', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '🇩🇪', '👍🏽', '❤️', '1️⃣'],
  ['柴犬', 'ﾊﾟ', '한국', '각', 'नमस्ते', 'می‌خواهم', 'ไทย', '=1+1', '+cmd', '-2', '-2.5', '@SUM(1)'],
  ['＝1', '\t=1', ' =1', '"', '""', ',', ';', "'", '%', 'a b', 'word', '…', '—'],
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '', ' ', '  '],
].flat();

/** Any string, often a hostile one. */
export const anyText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom(...hostile), { maxLength: 12 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: codePoints(60) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
      .map((codes) => String.fromCharCode(...codes)),
  },
);

/** Any JSON value, with hostile text in it. */
export const anyValue = fc.oneof(
  anyText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(anyText, { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 5 }), anyText, { maxKeys: 3 }),
);

/** Characters that must never reach a terminal: controls except line ends, direction marks, lone surrogates. */
export const unsafe =
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/u;
