import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asciiOnly, safeJson, safeLine, safeText } from '../../../src/output/terminal/safe-text.ts';
import { anyText, check, unsafe } from '../check.ts';

describe('safe text', () => {
  it('removes complete escape sequences, 7-bit and 8-bit', () => {
    expect(safeLine('a\x1b[1;31mred\x1b[0m b')).toBe('ared b');
    expect(safeLine('a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\')).toBe('ablink');
    expect(safeLine('a\x1bPdcs\x1b\\b\x1b_apc\x9cc\x1b^pm\x1b\\d\x1bXsos\x1b\\e')).toBe('abcde');
    expect(safeLine('a\x9b2Jb\x9d0;t\x9cc\x1bcd\x1b(0e')).toBe('abcde');
  });

  it('keeps the text after an unterminated escape', () => {
    expect(safeLine('a\x1b]0;the rest')).toBe('a0;the rest');
    expect(safeLine('a\x1b[')).toBe('a');
    expect(safeLine('\x1b\x1b[31m[31mx')).toBe('[31mx');
  });

  it('turns line ends and tabs into one space', () => {
    expect(safeLine('a\r\n\tb\u2028c')).toBe('a b c');
    expect(safeText('a\r\nb\rc\td\n\n\n\ne')).toBe('a\nb\nc d\n\ne');
  });

  it('removes direction marks and invisible characters', () => {
    expect(safeLine('\u202egnp.exe\u2066 \u200bmert\ufeff \u00ad\u3164\u{e0041}x')).toBe(
      'gnp.exe mert x',
    );
    expect(safeLine('me\u200drt \u200cx')).toBe('mert x');
  });

  it('keeps joiners that a script or an emoji needs', () => {
    for (const text of '👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 می‌خواهم क्‍ष 🏴󠁧󠁢󠁳󠁣󠁴󠁿 1️⃣ 🇩🇪 한국어 Ünï'.split(' '))
      expect(safeLine(text)).toBe(text);
  });

  it('replaces lone surrogates and limits combining marks', () => {
    expect(safeLine('a\ud800b')).toBe('a\ufffdb');
    expect(safeLine(`e${'\u0301'.repeat(50)}`)).toBe(`e${'\u0301'.repeat(4)}`);
  });

  it('contains no active characters, for any input, and is idempotent', () => {
    check(
      fc.property(anyText, (text) => {
        for (const made of [safeLine(text), safeText(text)]) {
          expect(made).not.toMatch(unsafe);
          expect(made).not.toMatch(/[\u200b\u2060\ufeff\u3164\xad]/);
        }
        expect(safeLine(text)).not.toContain('\n');
        expect(safeLine(safeLine(text))).toBe(safeLine(text));
        expect(asciiOnly(safeLine(text))).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });

  it('takes linear time', () => {
    for (const unit of '\x90 \x1b] \x1b[ \u200d \u0301 \x1b[; \u{e0041} 🏴 a\u202e'.split(' '))
      expect(safeLine(unit.repeat(100_000)).length).toBeLessThanOrEqual(unit.length * 100_000);
  });
});

describe('safe JSON', () => {
  it('has the same value without active characters', () => {
    check(
      fc.property(anyText, (text) => {
        const json = safeJson(JSON.stringify({ text }));
        expect(json).not.toMatch(/[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});
