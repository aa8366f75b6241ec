/** A word of a command line: its text without quotes, and whether a shell replaces a part of it. */
export interface Word {
  readonly text: string;
  readonly isOpen: boolean;
}

/** A word: quoted and unquoted parts. A digit before a redirection belongs to the redirection. */
const word = /[ \t]+(?!\d*[<>])((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\|;&<>()`])+)/y;
/** `trdr` where a shell would run it, also inside a substitution; in `sudo -u trdr` it is a value. */
const call = /(?<=^|[\s"(|;&=])(?<!-[su] )(?:(?:[\w./]*bin\/)?trdr|bin\/trdr\.js)(?= )/gm;

/** The words after each `trdr` that a script runs, up to the end or a redirection of its command. */
export function callsIn(script: string): Word[][] {
  // A backslash continues a line, and a here-document is input.
  const text = script.replaceAll('\\\n', ' ').replace(/<<-?\s*['"]?(\w+)['"]?(.*\n)[\s\S]*?^\s*\1$/gm, '$2');
  const code = text.replace(/(^|\s)#.*$/gm, '$1');
  return [...code.matchAll(call)].map(({ index, 0: name }) => {
    const words: Word[] = [];
    word.lastIndex = index + name.length;
    for (let found = word.exec(code); found; found = word.exec(code)) {
      const [, raw = ''] = found;
      const plain = raw.replace(
        /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
        (_, one, two, char) => one ?? two ?? char,
      );
      words.push({ text: plain, isOpen: /\$/.test(raw.replace(/'[^']*'|\\./g, '')) });
    }
    return words;
  });
}
