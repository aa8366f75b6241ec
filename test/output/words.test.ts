import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { Failure, printedFields } from '../../src/base/failure.ts';
import { didYouMean, suggest } from '../../src/base/suggest.ts';
import { renderFailure } from '../../src/output/error-text.ts';
import { at, pickFields } from '../../src/output/format/fields.ts';
import { createNotices, type LogForm } from '../../src/output/notices.ts';
import { barLine, secondsLeft } from '../../src/output/terminal/progress.ts';
import { type ProseLook, proseLines } from '../../src/output/terminal/prose.ts';
import { loadStyle } from '../../src/output/terminal/style.ts';
import { truncate, widthOf, wrap } from '../../src/output/terminal/width.ts';
import { localTime } from '../local-time.ts';
import { anyText, check, unsafe } from './check.ts';

const plainStyle = await loadStyle(false);

describe('a failure', () => {
  const look = { columns: 80, utc: true, style: plainStyle, unicode: true };

  it('never breaks a command to copy', async () => {
    const command = `trdr thesis list --all --max-cu 500 --before ${'0123456789'.repeat(4)} --out all-part2.ndjson`;
    const stopped = (hint: string) =>
      printedFields(new Failure('limit', 'Stopped.', { code: 'CEILING', hint }));
    const limit = stopped(`raise it; continue with: ${command}`);
    const lines = async (columns: number) =>
      (await renderFailure(limit, { ...look, columns })).split('\n');
    expect(await lines(40)).toEqual([
      'error: Stopped. [CEILING]',
      ' hint: raise it; continue with:',
      command,
      '',
    ]);
    const short = stopped('continue with: trdr x --before y');
    const told = '\n hint: continue with: trdr x --before y\n';
    expect(await renderFailure(short, look)).toContain(told);
  });

  it('fits on one screen without active characters, for any message', () =>
    check(
      fc.asyncProperty(
        anyText,
        anyText,
        anyText,
        fc.integer({ min: 20, max: 200 }),
        async (message, code, hint, width) => {
          const long = message.repeat(40);
          const failure = new Failure('service', long, { code, requestId: hint, hint });
          const text = await renderFailure(printedFields(failure), { ...look, columns: width });
          expect(text).not.toMatch(unsafe);
          const lines = text.split('\n');
          expect(lines.length).toBeLessThanOrEqual(28);
          for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    ));
});

describe('fields', () => {
  it('are found if their names contain dots', () => {
    expect(at({ 'a.b': { c: 1 } }, 'a.b.c')).toBe(1);
    expect(at({ a: { 'b.c': 1 } }, 'a.b.c')).toBe(1);
    expect(at({ a: null }, 'a.b')).toBeUndefined();
    expect(at({}, 'constructor')).toBeUndefined();
    expect(pickFields({ a: { b: 0 } }, ['a.b', 'x'])).toEqual({ a: { b: 0 }, x: null });
    expect(pickFields({ a: { b: 0, c: 1 } }, ['a.c', 'x', 'a.b'])).toEqual({
      a: { c: 1, b: 0 },
      x: null,
    });
    expect(pickFields({ a: { b: 0, c: 1 } }, ['a.c', 'a'])).toEqual({ a: { b: 0, c: 1 } });
    expect(pickFields({ 'a.b': 0 }, ['a.b', 'c.d'])).toEqual({ 'a.b': 0, c: { d: null } });
  });

  it.each([
    [{ a: null }, ['a.b', 'a.c.d', 'x'], { a: null, x: null }],
    [{ a: { b: null } }, ['a.b.c', 'a.d'], { a: { b: null, d: null } }],
    [{ 'a.b': null }, ['a.b.c'], { 'a.b': null }],
    [{ a: 1 }, ['a.b'], { a: { b: null } }],
  ])('of %j that are in a null are not made up: %j', (record, fields, expected) => {
    expect(pickFields(record, fields)).toEqual(expected);
  });
});

describe('did you mean', () => {
  it('suggests close matches only', () => {
    expect(suggest('whios', ['whois', 'resolve'])).toEqual(['whois']);
    expect(suggest('tali', ['tail', 'talk', 'list'])).toEqual(['tail', 'talk']);
    expect(suggest('kitten', ['sitting', 'mitten'])).toEqual(['mitten']);
    const numbers = ['netUsd', 'returnPct', 'volumeUsd', 'trades', 'rank'];
    expect(suggest('return', numbers)).toEqual(['returnPct']);
    expect(didYouMean('comp', ['completion', 'config'])).toBe('Did you mean completion?');
    expect(didYouMean('xyzzy', ['whois'])).toBe('');
  });
});

describe('width', () => {
  it('of a text is the number of cells', () => {
    const texts = ['ana', '柴犬', '🚀', '👨‍👩‍👧‍👦', '🇩🇪', 'é', 'e\u0301', '1️⃣', 'ﾊﾟ'];
    expect(texts.map(widthOf)).toEqual([3, 4, 2, 2, 2, 1, 1, 2, 2]);
  });

  it('is respected when truncating, between characters', () => {
    expect(truncate('柴犬柴犬', 5)).toBe('柴犬…');
    expect(truncate('👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 3)).toBe('👨‍👩‍👧‍👦…');
    expect(truncate('abc', 3)).toBe('abc');
    expect(truncate('abcd', 0)).toBe('');
  });

  it('is respected when wrapping, without losing words', () => {
    expect(wrap('one two  three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrap('柴犬柴犬', 4)).toEqual(['柴犬', '柴犬']);
    check(
      fc.property(
        fc.array(fc.constantFrom('a', 'bcd', '柴', '🚀', 'longer-word', ' ', '  ', 'é'), {
          maxLength: 30,
        }),
        fc.integer({ min: 2, max: 20 }),
        (parts, width) => {
          const text = parts.join('');
          const lines = wrap(text, width);
          for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
          expect(lines.join('').replace(/ /g, '')).toBe(text.replace(/ /g, ''));
        },
      ),
    );
  });
});

describe('a notice', () => {
  localTime('UTC');
  it.each([
    [{}, 'trdr: waiting 3s\ntrdr: a gap of 5…\n'],
    [{ unicode: false }, 'trdr: waiting 3s\ntrdr: a gap of 5...\n'],
    [{ quiet: true }, null],
  ])('is one safe line with %j, and nothing when quiet', (options, said) => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const say = createNotices({ stream: () => stream, quiet: false, unicode: true, ...options });
    say('waiting\x1b[2J 3s');
    say('a gap\nof 5…');
    expect(stream.read()).toBe(said);
  });

  const onTerminal = (text: string, look: ProseLook, form?: LogForm) => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const layout = (label: string, shown: string) => proseLines(label, shown, look);
    createNotices({ stream: () => stream, quiet: false, unicode: true, layout, form })(text);
    return String(stream.read());
  };

  it('is wrapped at words on a terminal of any width, and nothing is lost', () =>
    check(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }), {
          minLength: 1,
        }),
        fc.integer({ min: 40, max: 200 }),
        (some, columns) => {
          const words = some.map((word) => word.replace(/\s/g, '_'));
          const text = onTerminal(words.join(' '), { columns, utc: true });
          const lines = text.trimEnd().split('\n');
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
          expect(lines.map((line) => line.slice('trdr: '.length)).join(' ')).toBe(words.join(' '));
          expect(lines.every((line, at) => line.startsWith(at === 0 ? 'trdr: ' : '      '))).toBe(
            true,
          );
        },
      ),
    ));

  it('shows times on a terminal as tables do, but not in commands and logs', () => {
    const text =
      'complete up to 2026-01-02T15:04:05.678Z; continue with: trdr x --since 2026-01-02T15:04:05Z';
    process.env['TZ'] = 'Europe/Berlin';
    const local = { columns: 200, utc: false };
    expect(onTerminal(text, local)).toBe(
      'trdr: complete up to 2026-01-02 16:04:05 +01:00; continue with: trdr x --since 2026-01-02T15:04:05Z\n',
    );
    expect(onTerminal(text, { ...local, utc: true })).toContain('up to 2026-01-02 15:04:05Z;');
    for (const form of ['json', 'stamped'] as const)
      expect(onTerminal(text, local, form)).toContain('up to 2026-01-02T15:04:05.678Z;');
  });
});

describe('progress', () => {
  it.each([
    ['nothing is known of the limit', undefined, 30],
    ['the limit holds all calls', { perMinute: 1_000, calls: 250 }, 30],
    ['the limit stretches the run', { perMinute: 100, calls: 250 }, 9 * 60 - 10],
    ['cached answers need no call', { perMinute: 100, calls: 25 }, 30],
    ['one call brings many answers', { perMinute: 2, calls: 3 }, 5 * 60 - 10],
  ])('states the remaining time if %s', (_, pace, seconds) => {
    expect(secondsLeft({ done: 250, total: 1000, pace }, 10_000)).toBe(seconds);
  });

  it('shows progress, speed, cost and remaining time', () => {
    const line = barLine('whois', { done: 250, total: 1000, cu: 25_000 }, 10_000, {
      width: 80,
      unicode: true,
    });
    expect(line).toBe('whois  █████░░░░░░░░░░░░░░░  250/1,000  25/s  25,000 CU  30s left');
    expect(barLine('whois', { done: 7 }, 0, { width: 80, unicode: false })).toBe('whois  7');
    expect(
      barLine('whois', { done: 250, total: 1000, cu: 25_000 }, 10_000, { width: 40, unicode: true })
        .length,
    ).toBeLessThanOrEqual(40);
    const narrow = { width: 30, unicode: true };
    expect(barLine('whois', { done: 250, total: 1000, cu: 25_000 }, 10_000, narrow)).toBe(
      'whois  250/1,000',
    );
  });
});
