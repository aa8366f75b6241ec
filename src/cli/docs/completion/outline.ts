import { endpoints, OPENAPI_PATH } from '../../../contract/endpoints.ts';
import { fieldPaths } from '../../../contract/paths.ts';
import { alwaysOptions, commonGroups } from '../../args/common.ts';
import { longName, type Option, type Options, shortName } from '../../args/option.ts';
import type { AnyCommand, Argument } from '../../command.ts';
import { groupSummary } from '../overview.ts';
import { topics } from '../topics.ts';

/** Where the candidates for a word come from. */
export interface CompletionSlot {
  readonly choices?: readonly string[] | undefined;
  /** Choices that depend on the previous argument. */
  readonly choicesBy?: Argument['choicesBy'] | undefined;
  readonly kind?: Exclude<Argument['complete'], 'path'>;
  /** Whether the word is a list of values, separated by commas. */
  readonly list?: boolean;
}

/** The part of the command descriptions that completion uses, as JSON. */
export type Outline = ReturnType<typeof outlineOf>;

export function outlineOf(commands: readonly AnyCommand[]) {
  const groups = [...new Set(commands.flatMap(({ path }) => path.split(' ').slice(0, -1)))];
  return {
    commands: commands.map(commandOutline),
    groups: groups.map((name) => ({ name, summary: groupSummary(name) })),
    topics: topics.map(({ name, summary }) => ({ name, summary })),
    common: {
      always: flagsOf(alwaysOptions),
      output: flagsOf(commonGroups.output),
      service: flagsOf(commonGroups.service),
      money: flagsOf(commonGroups.money),
    },
  };
}

function commandOutline({ path, summary, options, common, args, record, stream }: AnyCommand) {
  const fields =
    record === undefined || !common.includes('output') ? [] : [...fieldPaths(record())];
  const own = flagsOf(options);
  const { fields: fieldsFlag, output } = commonGroups.output;
  if (fields.length > 0)
    own.push({ ...flagOutline(fieldsFlag), slot: { choices: fields, list: true } });
  // Streams reject a document.
  const formats = output.value?.choices?.filter((name) => name !== 'json');
  if (stream) own.push({ ...flagOutline(output), slot: { choices: formats } });
  return {
    path,
    summary,
    /** The command's own flags, which replace common flags with the same name. */
    flags: own,
    common,
    args: args.map((argument) => ({ ...slotOf(argument), optional: argument.optional })),
    variadic: args.at(-1)?.variadic,
  };
}

const flagsOf = (options: Options) => Object.values(options).map(flagOutline);

function flagOutline(option: Option<unknown>) {
  const short = shortName(option);
  return {
    names: [`--${longName(option)}`, ...(short === undefined ? [] : [`-${short}`])],
    help: option.help,
    slot: option.value && slotOf(option.value),
    repeatable: option.repeatable,
  };
}

function slotOf({
  choices,
  choicesBy,
  complete,
}: Pick<Argument, 'choices' | 'choicesBy' | 'complete'>): CompletionSlot {
  return complete === 'path' ? { choices: apiPaths() } : { choices, choicesBy, kind: complete };
}

/** The API paths, up to their first parameter. */
const apiPaths = (): string[] => [
  ...new Set([
    ...Object.values(endpoints).map(({ path }) => path.replace(/\{.*/, '')),
    OPENAPI_PATH,
  ]),
];
