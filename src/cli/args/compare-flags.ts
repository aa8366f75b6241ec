import { usageError } from '../../base/failure.ts';
import { oneOf } from '../../base/values.ts';
import { flag, type GivenFlags, list } from './option.ts';

export const changeOptions = {
  changed: flag('--changed', 'with --compare: hide what did not change'),
  only: list('--only', 'with --compare: only these changes', oneOf('new', 'left', 'up', 'down')),
};

export function checkCompare(
  given: { readonly compare: unknown } & GivenFlags<typeof changeOptions>,
  example: string,
): void {
  if (given.compare !== undefined || (!given.changed && given.only.length === 0)) return;
  throw usageError(
    `${given.changed ? '--changed' : '--only'} requires --compare`,
    `add what to compare with, for example ${example}`,
  );
}
