/** Splits a command line as a shell does, up to the cursor at its end. The last word is empty after a space. */
export function splitLine(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"') word += line[++at] ?? '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${char === '\\' ? (line[++at] ?? '') : char}`;
  }
  return [...words, word ?? ''];
}
