import * as fc from 'fast-check';

const SURROGATES = 0x800;

/**
 * Any text of whole code points. `fc.string({ unit: 'binary' })` is the same, but builds a table of all of them first,
 * which takes a second in each worker.
 */
export const codePoints = (maxLength = 10): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0x7f), fc.nat(0x2ff), fc.nat(0x10ffff - SURROGATES)), { maxLength })
    .map((points) =>
      String.fromCodePoint(...points.map((point) => (point < 0xd800 ? point : point + SURROGATES))),
    );
