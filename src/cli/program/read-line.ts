import type { Parsed } from '../args/parsed.ts';
import type { AnyCommand } from '../command.ts';
import { HelpRequested, openTree, type Program } from './program.ts';
import { readFlags } from './read-values.ts';

/** What a line asks for: a command to run, or help about the words that it names. */
export type ParsedLine =
  | { readonly command: AnyCommand; readonly parsed: Parsed }
  | { readonly helpFor: readonly string[]; readonly isBrief: boolean };

const versionFlags = ['--version', '-V', '-v'];

/**
 * Reads a command line and loads its command. Nothing else happens, so that a wrong line fails
 * before anything does.
 */
export async function readLine(argv: readonly string[], folder = ''): Promise<ParsedLine> {
  const [first = '', ...others] = argv;
  const words = versionFlags.includes(first) ? ['version', ...others] : [...argv];
  if (words.length === 0) return { helpFor: [], isBrief: true };
  let reached: Program | undefined;
  try {
    const program = openTree((command) => {
      reached = command;
    }, words[0]);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof HelpRequested)) throw error;
    return { helpFor: error.words, isBrief: !argv.includes('--help') };
  }
  if (!reached?.spec) throw new Error('commander ended without a command');
  const { spec, args } = reached;
  return { command: spec, parsed: readFlags(spec, args, reached.opts(), folder) };
}
