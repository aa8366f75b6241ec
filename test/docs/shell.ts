/** A word of a shell line: its text without quotes, and whether it contains an expansion. */
export interface Word {
  readonly text: string;
  readonly isOpen: boolean;
}

const keywords = new Set(['if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', '{', '}', '!']);
const operator = /^(?:\n|;;?|&&|\|\|?|\(|\)|&(?!>))/;
const redirect = /^(?:\d*(?:<<<|<<-?|>>|>&|<&|>\||>|<(?!\())|&>>?)/;

/** The simple commands of a shell script, including those in substitutions; supports the syntax that the docs use. */
export function commandsOf(script: string): Word[][] {
  const commands: Word[][] = [];
  let words: Word[] = [];
  let rest = script;
  let pending: string[] = [];
  let target = false;
  let heredoc = false;

  const end = () => {
    while (words[0] && (keywords.has(words[0].text) || /^[A-Za-z_]\w*=/.test(words[0].text))) words.shift();
    if (words[0] && words[0].text !== 'for' && words[0].text !== 'case') commands.push(words);
    words = [];
  };
  const take = (length: number) => {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    return taken;
  };
  /** The text inside the brackets that open at `from`; quoted brackets do not count. */
  const inside = (from: number): string => {
    let depth = 0;
    let quote = '';
    for (let at = from; at < rest.length; at++) {
      const char = rest[at] ?? '';
      if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === "'" || char === '"') quote = char;
      else if (char === '(') depth++;
      else if (char === ')' && --depth === 0) return rest.slice(from + 1, at);
    }
    throw new Error(`unclosed bracket: ${rest.slice(0, 60)}`);
  };
  const substitution = (prefix: number): void => {
    const body = inside(prefix);
    commands.push(...commandsOf(body));
    take(prefix + body.length + 2);
  };

  function word(): Word {
    let text = '';
    let isOpen = false;
    let quote = '';
    while (rest !== '') {
      if (quote === '' && /^[\s;&|()<>]/.test(rest) && !/^<\(/.test(rest)) break;
      if (quote !== "'" && rest.startsWith('\\')) {
        const escaped = take(2);
        if (escaped !== '\\\n') text += quote === '"' && !/^\\[$`"\\]$/.test(escaped) ? escaped : escaped[1];
      } else if (quote !== "'" && (rest.startsWith('$(') || (quote === '' && rest.startsWith('<(')))) {
        isOpen = true;
        text += '$';
        substitution(1);
      } else if (quote !== "'" && /^\$[\w{@#?!*]/.test(rest)) {
        isOpen = true;
        const brace = /^\$\{[^}]*\}/.exec(rest)?.[0];
        text += take(brace?.length ?? /^\$(?:\w+|.)/.exec(rest)?.[0].length ?? 1);
      } else if (quote === '' && /^['"]/.test(rest)) quote = take(1);
      else if (quote !== '' && rest.startsWith(quote)) {
        take(1);
        quote = '';
      } else text += take(1);
    }
    if (quote !== '') throw new Error(`unclosed quote: ${text.slice(0, 60)}`);
    return { text, isOpen };
  }

  while (rest !== '') {
    const blank = /^(?:[ \t]|\\\n)+/.exec(rest);
    if (blank) {
      take(blank[0].length);
      continue;
    }
    if (rest.startsWith('#')) {
      take(/^[^\n]*/.exec(rest)?.[0].length ?? 1);
      continue;
    }
    const arrow = redirect.exec(rest);
    if (arrow) {
      take(arrow[0].length);
      target = true;
      heredoc = arrow[0].includes('<<') && !arrow[0].includes('<<<');
      continue;
    }
    const sign = operator.exec(rest);
    if (sign) {
      take(sign[0].length);
      end();
      if (sign[0] === '\n') {
        for (const mark of pending) {
          const stop = new RegExp(`^${mark}$`, 'm').exec(rest);
          take((stop?.index ?? rest.length) + mark.length);
        }
        pending = [];
      }
      continue;
    }
    const next = word();
    if (target && heredoc) pending.push(next.text);
    else if (!target) words.push(next);
    target = false;
  }
  end();
  return commands;
}

/** Programs that run the command in their arguments. */
const wrappers = new Set([
  'exec',
  'sudo',
  'nohup',
  'time',
  'timeout',
  'xargs',
  'env',
  'nice',
  'flock',
  'npx',
]);
const isTrdr = ({ text }: Word) => text === 'trdr' || text.endsWith('/trdr') || text === 'bin/trdr.js';

/** The words after `trdr` if a command calls it. */
export function wordsOfTrdr(command: readonly Word[]): readonly Word[] | undefined {
  const [first] = command;
  if (first === undefined) return undefined;
  const at = isTrdr(first)
    ? 0
    : wrappers.has(first.text) || first.text === 'node'
      ? // `sudo -u trdr` names a user.
        command.findIndex((word, index) => isTrdr(word) && command[index - 1]?.text !== '-u')
      : -1;
  return at === -1 ? undefined : command.slice(at + 1);
}
