import {
  Command,
  Argument as CommanderArgument,
  type ErrorOptions,
  type Option,
  type ParseOptionsResult,
} from 'commander';
import { commonOptions, everyCommonOption, helpFlag } from '../args/common.ts';
import { Flag, notReplaced } from '../args/option.ts';
import type { AnyCommand, Argument } from '../command.ts';
import { sectionOf, tree, wordsAfter } from '../tree.ts';
import { checkWords, withoutText } from './check-words.ts';
import { commandNeeded, givenTwice, lineFailure } from './failures.ts';
import { inTypedNames } from './typed-names.ts';

/** Thrown when a line asks for help, because commander would print it and end the process. */
export class HelpRequested extends Error {
  readonly words: readonly string[];
  constructor(words: readonly string[]) {
    super('help was requested');
    this.words = words;
  }
}

/**
 * The program, a group of commands or a command, as commander knows it. It is a name until a line
 * reaches it, because loading every command takes longer than a lookup. What it adds to commander,
 * on public hooks: common flags may come before the command, no text after "=" is repeated, a flag
 * is not taken as the value of a flag, and one value is not given twice.
 */
export class Program extends Command {
  declare readonly commands: readonly Program[];
  declare parent: Program | null;
  /** The description of a command, once it is loaded. A group has none. */
  spec: AnyCommand | undefined;
  /** The first word of the line that commander did not know, without the text after "=". */
  unknownWord = '';
  readonly #reached: (command: Program) => void;
  readonly #given = new Set<Option>();

  constructor(name: string, reached: (command: Program) => void) {
    super(name);
    this.#reached = reached;
    this.helpCommand(false);
    this.optionsGroup('Flags:');
    this.hook('preSubcommand', (_, entered) => Program.#load(entered));
  }

  /** The words of the command, such as `thesis list`. */
  get words(): readonly string[] {
    return this.parent ? [...this.parent.words, this.name()] : [];
  }

  override createCommand(name = ''): Program {
    return new Program(name, this.#reached);
  }

  static async #load(entered: Command): Promise<void> {
    if (entered instanceof Program) await entered.load();
  }

  /** Loads the command, or names the commands of the group. */
  async load(): Promise<void> {
    const load = tree[this.words.join(' ')];
    if (load) this.declare(await load());
    else for (const name of wordsAfter(this.words)) this.command(name);
  }

  /** Tells commander what a command accepts. */
  declare(spec: AnyCommand): this {
    this.spec = spec;
    for (const argument of spec.args) this.addArgument(argumentOf(argument));
    for (const flag of Object.values(spec.options)) this.addOption(flag);
    const { help, ...common } = notReplaced(commonOptions(spec.common), spec.options);
    for (const flag of Object.values(common)) this.addOption(flag);
    if (spec.usage !== undefined) this.usage(`[options] ${spec.usage}`);
    return this.action(() => this.#reached(this));
  }

  override addOption(option: Option): this {
    const isRepeatable = option instanceof Flag && option.isRepeatable;
    this.on(`option:${option.name()}`, () => {
      if (option.required && !isRepeatable && this.#given.has(option)) throw givenTwice(option);
      this.#given.add(option);
    });
    return super.addOption(option);
  }

  override parseOptions(words: string[]): ParseOptionsResult {
    return inTypedNames(words, this.options, () => this.#readFlags(words));
  }

  #readFlags(words: string[]): ParseOptionsResult {
    const isGroup = this.commands.length > 0;
    if (!isGroup) checkWords(this, words);
    if (isGroup && words[0]?.startsWith('-')) this.#expectCommonFlags();
    const { operands, unknown } = super.parseOptions(words);
    const [name] = operands;
    if (isGroup && this.commands.some((subcommand) => subcommand.name() === name)) {
      // The command reads the flags before its name, because it may have a version of its own.
      const leading = words.slice(0, words.length - unknown.length - operands.length);
      return { operands, unknown: [...leading, ...unknown] };
    }
    const [first, ...others] = unknown;
    if (first === undefined) return { operands, unknown };
    this.unknownWord = withoutText(first);
    return { operands, unknown: [this.unknownWord, ...others] };
  }

  /** Here they only tell which words are values: the command reads them again. */
  #expectCommonFlags(): void {
    const { help, ...common } = everyCommonOption;
    for (const { flags } of Object.values(common)) super.addOption(this.createOption(flags));
  }

  override error(message: string, { code = '' }: ErrorOptions = {}): never {
    throw lineFailure(this, code, message);
  }

  override outputHelp(): void {
    throw new HelpRequested(this.words);
  }

  override help(): never {
    throw commandNeeded(this);
  }
}

function argumentOf({ name, help, optional, variadic, choices }: Argument): CommanderArgument {
  const shown = variadic ? `${name}...` : name;
  const argument = new CommanderArgument(optional ? `[${shown}]` : `<${shown}>`, help);
  // Commander would reject other values, but some commands accept more than they offer.
  if (choices) argument.argChoices = [...choices];
  return argument;
}

/**
 * The program with the names of its commands and groups. A command that a line names is passed to
 * `reached`. If the line begins with a name, the others are left out, because creating them takes a
 * millisecond of each lookup.
 */
export function openTree(reached: (command: Program) => void, first?: string): Program {
  const program = new Program('trdr', reached).exitOverride().addHelpOption(helpFlag);
  program.enablePositionalOptions();
  const names = wordsAfter([]);
  const needed = first !== undefined && names.includes(first) ? [first] : names;
  for (const name of needed) program.command(name).helpGroup(`${sectionOf(name)}:`);
  return program;
}
