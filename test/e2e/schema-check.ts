import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { everyCommonOption } from '../../src/cli/args/common.ts';
import { allLeaves } from '../../src/cli/docs/help.ts';
import { describeAll, describeCommand, recordSchema } from '../../src/cli/docs/schema.ts';
import { type ParsedLine, readLine } from '../../src/cli/program/read-line.ts';
import { PlannedCall } from '../../src/contract/records/tool.ts';

const ajv = new Ajv2020({ strict: true, validateFormats: false, allErrors: true });
const checks = new Map<string, ValidateFunction>();

/**
 * The commands and what `trdr schema` prints about them, created once because this takes longer than a run. A file that
 * imports this waits until every command is loaded, because files share a worker: what is still loading when a file ends
 * could be used by no later file.
 */
const leaves = await allLeaves();
const map = describeAll(leaves);

const paths = new Set(leaves.map(({ spec }) => spec.path));
const flags = new Set(
  [everyCommonOption, ...leaves.map(({ spec }) => spec.options ?? {})]
    .flatMap((options) => Object.values(options))
    .flatMap((option) => option.flags.match(/--[a-z][\w-]*/g) ?? []),
);

/** Throws if a hint names a command or a flag that does not exist. */
export function checkHint(hint: string): void {
  const commands = [...hint.matchAll(/(?:"|: |&& )trdr ([a-z]+)(?: ([a-z]+))?/g)];
  const unknown = [
    ...commands.filter(([, one, two]) => !paths.has(`${one}`) && !paths.has(`${one} ${two}`)),
    ...[...hint.matchAll(/(?<![\w=-])--[a-z][\w-]*/g)].filter(([flag]) => !flags.has(flag)),
  ];
  if (unknown.length > 0) throw new Error(`a hint names ${unknown[0]?.[0]}: ${hint}`);
}

/** The validator of a schema, compiled once per name. */
function validator(name: string, schema: () => object): ValidateFunction {
  const check = checks.get(name) ?? ajv.compile(schema());
  checks.set(name, check);
  return check;
}

function validate(check: ValidateFunction, value: unknown, what: string): void {
  if (check(value)) return;
  throw new Error(
    `${what} breaks its schema: ${ajv.errorsText(check.errors)}\n${JSON.stringify(value)}`,
  );
}

/**
 * Validates the machine output of a run and the error on its stderr against the schemas that `trdr schema` prints. Does
 * not check output with `--fields`, output that is not JSON, or answers that differ from their description.
 */
export async function checkSchema(
  argv: readonly string[],
  stdout: string,
  stderr: string,
): Promise<void> {
  const error = stderr.split('\n').find((line) => line.startsWith('{"error":'));
  if (error !== undefined) {
    const printed = JSON.parse(error);
    validate(
      validator('error', () => map.error),
      printed,
      `the error of ${argv}`,
    );
    checkHint(String(printed.error.hint ?? ''));
  }
  // Answers that differ from the description are printed unchanged.
  if (!/^[[{]/.test(stdout) || stderr.includes('differs from the service description')) return;
  const line = await lineOf(argv);
  const leaf = leaves.find(({ spec }) => line && 'command' in line && spec === line.command);
  if (!line || !('command' in line) || !leaf?.spec.record || leaf.spec.path === 'api') return;
  const { globals } = line.parsed;
  if (globals.fields !== undefined || globals.times === 'iso') return;
  if (globals.output !== undefined && globals.output !== 'json' && globals.output !== 'ndjson')
    return;
  const check = globals.dryRun
    ? validator('--dry-run', () => recordSchema(PlannedCall))
    : validator(leaf.spec.path, () => describeCommand(leaf).record ?? {});
  for (const record of recordsOf(stdout))
    validate(check, record, `a record of trdr ${leaf.spec.path}`);
}

/** Undefined if the line is wrong. */
const lineOf = (argv: readonly string[]): Promise<ParsedLine | undefined> =>
  readLine(argv).catch(() => undefined);

function recordsOf(text: string): unknown[] {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    // The last line may be incomplete if the run was killed.
    const lines = text.split('\n');
    return lines.slice(0, -1).map((line): unknown => JSON.parse(line));
  }
}
