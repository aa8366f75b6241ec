import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import { everyCommonOption } from './common.ts';
import { longName, shortName } from './option.ts';

/** Common flags may precede each word of the command. The word after a flag that takes a value is not part of the command. */
export function findCommand(
  argv: readonly string[],
  paths: readonly string[],
): { path: string; rest: readonly string[]; wantsHelp: boolean } {
  if (versionFlags.includes(argv[0] ?? '')) return findCommand(['version', ...argv.slice(1)], paths);
  const rest: string[] = [];
  let path = '';
  let index = 0;
  for (; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (word.startsWith('-') && word.length > 1) {
      rest.push(word);
      const next = argv[index + 1];
      if (takesValue(word) && next !== undefined) {
        rest.push(next);
        index++;
      }
      continue;
    }
    const longer = path === '' ? word : `${path} ${word}`;
    if (!paths.some((known) => known === longer || known.startsWith(`${longer} `))) {
      if (path !== '' && paths.includes(path)) break;
      throw unknown(longer, paths);
    }
    path = longer;
    // Stop at a complete command: `launchpad user` has no subcommands, but `thesis` needs one.
    if (!paths.some((known) => known.startsWith(`${path} `))) {
      index++;
      break;
    }
  }
  rest.push(...argv.slice(index));
  const end = rest.indexOf('--');
  const flags = end === -1 ? rest : rest.slice(0, end);
  return { path, rest, wantsHelp: flags.includes('--help') || flags.includes('-h') };
}

const versionFlags = ['--version', '-V', '-v'];

const valued = Object.values(everyCommonOption).filter((option) => option.value !== undefined);
const takesValue = (word: string) =>
  valued.some((option) => word === `--${longName(option)}` || word === `-${shortName(option)}`);

function unknown(words: string, paths: readonly string[]) {
  const group = words.split(' ').slice(0, -1).join(' ');
  const firsts = paths.map((path) => path.split(' ')[0] ?? '');
  const near = didYouMean(words, [...paths, ...firsts], (name) => `"trdr ${name}"`);
  return usageError(
    `unknown command "${words}"`,
    near || `see trdr ${group === '' ? '' : `${group} `}--help`,
  );
}
