import { endpoints, OPENAPI_PATH } from '../../../contract/endpoints.ts';
import { fieldPaths } from '../../../contract/paths.ts';
import { alwaysOptions, type Common, commonGroups } from '../../args/common.ts';
import type { Flag, Options } from '../../args/option.ts';
import type { Argument } from '../../command.ts';
import { groupSummaries } from '../../tree.ts';
import type { Leaf } from '../page.ts';
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

export interface FlagOutline {
  readonly names: readonly string[];
  readonly help: string;
  readonly slot?: CompletionSlot | undefined;
  readonly repeatable?: boolean | undefined;
}

interface CommandOutline {
  readonly path: string;
  readonly summary: string;
  /** The command's own flags, which replace common flags with the same name. */
  readonly flags: readonly FlagOutline[];
  readonly common: readonly Common[];
  readonly args: readonly (CompletionSlot & { readonly optional?: boolean | undefined })[];
  readonly variadic?: boolean | undefined;
}

/** A name that is followed by others, or a topic of help. */
interface NamedOutline {
  readonly name: string;
  readonly summary: string;
}

/** The part of the command descriptions that completion uses, as JSON. */
export interface Outline {
  readonly commands: readonly CommandOutline[];
  readonly groups: readonly NamedOutline[];
  readonly topics: readonly NamedOutline[];
  readonly common: Readonly<Record<Common | 'always', readonly FlagOutline[]>>;
}

export function outlineOf(leaves: readonly Leaf[]): Outline {
  return {
    commands: leaves.map(commandOutline),
    groups: Object.entries(groupSummaries).map(([name, summary]) => ({ name, summary })),
    topics: topics.map(({ name, summary }) => ({ name, summary })),
    common: {
      always: flagsOf(alwaysOptions),
      output: flagsOf(commonGroups.output),
      service: flagsOf(commonGroups.service),
      money: flagsOf(commonGroups.money),
    },
  };
}

function commandOutline(leaf: Leaf): CommandOutline {
  const { path, options, common, args, record, stream } = leaf.spec;
  const fields =
    record === undefined || !common.includes('output') ? [] : [...fieldPaths(record())];
  const own = flagsOf(options);
  const { fields: fieldsFlag, output } = commonGroups.output;
  if (fields.length > 0)
    own.push({ ...flagOutline(fieldsFlag), slot: { choices: fields, list: true } });
  // Streams reject a document.
  const formats = output.argChoices?.filter((name) => name !== 'json');
  if (stream) own.push({ ...flagOutline(output), slot: { choices: formats } });
  return {
    path,
    summary: leaf.summary(),
    flags: own,
    common,
    args: args.map((argument) => ({ ...slotOf(argument), optional: argument.optional })),
    variadic: leaf.registeredArguments.at(-1)?.variadic,
  };
}

const flagsOf = (options: Options): FlagOutline[] => Object.values(options).map(flagOutline);

function flagOutline({
  long = '',
  short,
  description,
  kind,
  argChoices,
  isRepeatable,
}: Flag<unknown>): FlagOutline {
  return {
    names: short === undefined ? [long] : [long, short],
    help: description,
    slot:
      kind &&
      slotOf({
        ...(argChoices && { choices: argChoices }),
        ...(kind.complete && { complete: kind.complete }),
      }),
    repeatable: isRepeatable || undefined,
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
