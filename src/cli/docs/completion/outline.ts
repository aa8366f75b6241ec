import { endpoints, OPENAPI_PATH } from '../../../contract/endpoints.ts';
import { fieldPaths } from '../../../contract/paths.ts';
import { alwaysOptions, type Common, commonGroups } from '../../args/common.ts';
import { longName, type Option, type Options, shortName } from '../../args/option.ts';
import type { AnyCommand, Argument } from '../../command.ts';
import { groupSummary } from '../overview.ts';
import { topics } from '../topics.ts';

export interface CompletionSlot {
  readonly choices?: readonly string[];
  /** Choices that depend on the previous argument. */
  readonly choicesBy?: Readonly<Record<string, readonly string[]>>;
  readonly kind?: 'file' | 'profile' | 'handle' | 'command' | 'help';
  /** Whether the word is a list of values, separated by commas. */
  readonly list?: true;
}

export interface FlagOutline {
  readonly names: readonly string[];
  readonly help: string;
  /** How to complete the value of the flag; undefined for a flag without a value. */
  readonly slot?: CompletionSlot;
  readonly repeatable?: true;
}

export interface CommandOutline {
  readonly path: string;
  readonly summary: string;
  /** The command's own flags, which replace common flags with the same name. */
  readonly flags: readonly FlagOutline[];
  readonly common: readonly Common[];
  readonly args: readonly (CompletionSlot & { readonly optional?: true })[];
  readonly variadic?: true;
}

interface Named {
  readonly name: string;
  readonly summary: string;
}

/** The part of the command descriptions that completion uses, as JSON. */
export interface Outline {
  readonly commands: readonly CommandOutline[];
  readonly groups: readonly Named[];
  readonly topics: readonly Named[];
  readonly common: Readonly<Record<Common | 'always', readonly FlagOutline[]>>;
}

export function outlineOf(commands: readonly AnyCommand[]): Outline {
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

function commandOutline({
  path,
  summary,
  options,
  common,
  args,
  record,
  stream,
}: AnyCommand): CommandOutline {
  const fields = record === undefined || !common.includes('output') ? [] : [...fieldPaths(record())];
  const { fields: fieldsFlag, output } = commonGroups.output;
  return {
    path,
    summary,
    flags: [
      ...flagsOf(options),
      ...(fields.length > 0 ? [withSlot(fieldsFlag, { choices: fields, list: true })] : []),
      ...(stream ? [withSlot(output, { choices: withoutJson(output) })] : []),
    ],
    common,
    args: args.map((argument) => ({ ...slotOf(argument), ...(argument.optional && { optional: true }) })),
    ...(args.at(-1)?.variadic && { variadic: true }),
  };
}

/** The values of the common --output without `json`, which streams reject. */
const withoutJson = ({ value }: Option<unknown>) => (value?.choices ?? []).filter((name) => name !== 'json');

const withSlot = (option: Option<unknown>, slot: CompletionSlot): FlagOutline => ({
  ...flagOutline(option),
  slot,
});

const flagsOf = (options: Options): FlagOutline[] => Object.values(options).map(flagOutline);

function flagOutline(option: Option<unknown>): FlagOutline {
  const short = shortName(option);
  return {
    names: [`--${longName(option)}`, ...(short === undefined ? [] : [`-${short}`])],
    help: option.help,
    ...(option.value && { slot: slotOf(option.value) }),
    ...(option.repeatable && { repeatable: true }),
  };
}

function slotOf({
  choices,
  choicesBy,
  complete,
}: Pick<Argument, 'choices' | 'choicesBy' | 'complete'>): CompletionSlot {
  if (complete === 'path') return { choices: apiPaths() };
  return {
    ...(choices && { choices }),
    ...(choicesBy && { choicesBy }),
    ...(complete && { kind: complete }),
  };
}

/** The API paths, up to their first parameter. */
const apiPaths = (): string[] => [
  ...new Set([...Object.values(endpoints).map(({ path }) => path.replace(/\{.*/, '')), OPENAPI_PATH]),
];
