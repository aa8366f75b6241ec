import { usageError } from '../../base/failure.ts';
import { oneOf } from '../../base/values.ts';
import { flag, type GivenFlags, list } from './option.ts';

export const changeOptions = {
  changed: flag('--changed', 'with --compare: hide what did not change'),
  only: list('--only', 'with --compare: only these changes', oneOf('new', 'left', 'up', 'down')),
};

export function checkCompare(
  flags: { readonly compare: unknown } & GivenFlags<typeof changeOptions>,
  example: string,
): void {
  if (flags.compare !== undefined || (!flags.changed && flags.only.length === 0)) return;
  throw usageError(
    `${flags.changed ? '--changed' : '--only'} requires --compare`,
    `add what to compare with, for example ${example}`,
  );
}

/** Rejects a line on which more than one of these is `-`, which stands for stdin. */
export function checkOneInput(noun: string, areStdin: readonly boolean[]): void {
  if (areStdin.filter(Boolean).length < 2) return;
  throw usageError(
    `only one of the ${noun}, --from and --compare can be read from stdin`,
    'save the others to files',
  );
}
