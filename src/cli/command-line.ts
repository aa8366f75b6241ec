import { quoted } from '../base/shell-word.ts';

/** This command line with flags set to the values in `changes`; undefined removes a flag. */
export function commandWith(
  argv: readonly string[],
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const names = Object.keys(changes);
  const kept: string[] = [];
  let end: readonly string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      end = argv.slice(at);
      break;
    }
    if (names.includes(word)) at++;
    else if (!names.some((name) => word.startsWith(name.startsWith('--') ? `${name}=` : name)))
      kept.push(word);
  }
  const added = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return ['trdr', ...kept, ...added, ...end].map(quoted).join(' ');
}
