import { usageError } from '../../../base/failure.ts';

const SPACE = /\s/;
/**
 * Operators of a shell. They are rejected, because without a shell the command would receive them as
 * arguments.
 */
const operator = /^(?:[|&;<>]|\d>|\|\||&&)/;
const trailing = /^[;&|](?:\s|$)/;
const expansion = /^(?:\$[\w{(]|`)/;

/** Splits a command line as a shell does, with quotes and backslashes but without expansions. */
export function splitCommand(text: string): readonly [file: string, ...words: string[]] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; ) {
    const char = text[at] ?? '';
    if (SPACE.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at++;
      continue;
    }
    if (word === undefined && operator.test(text.slice(at))) throw needsShell(text.slice(at).split(/\s/)[0]);
    word ??= '';
    if (char === "'") {
      const end = endOf(text, at, "'");
      word += text.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      const end = endOf(text, at, '"');
      const inner = text.slice(at + 1, end);
      checkExpansion(inner);
      word += inner.replace(/\\(["\\$`])/g, '$1');
      at = end + 1;
    } else if (char === '\\') {
      if (at + 1 >= text.length) throw usageError('--exec ends with a backslash', 'remove it');
      word += text[at + 1];
      at += 2;
    } else {
      if (expansion.test(text.slice(at))) throw needsShell(text.slice(at).split(/[\s"']/)[0]);
      if (trailing.test(text.slice(at))) throw needsShell(char);
      word += char;
      at++;
    }
  }
  if (word !== undefined) words.push(word);
  const [file, ...rest] = words;
  if (file === undefined || file === '')
    throw usageError('--exec has no command', 'write a command, for example --exec ./deliver');
  return [file, ...rest];
}

/** Returns the position of the closing quote. */
function endOf(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  throw usageError(`unterminated ${quote} in --exec`, 'close the quote');
}

function checkExpansion(inner: string): void {
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] === '\\') at++;
    else if (expansion.test(inner.slice(at))) throw needsShell(inner.slice(at).split(/\s/)[0]);
  }
}

const needsShell = (what = '') =>
  usageError(
    `${JSON.stringify(what)} in --exec needs a shell`,
    "add --shell to run the command with /bin/sh, or put the text in '...'",
  );
