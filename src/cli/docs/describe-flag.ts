import type { Option } from 'commander';
import { Flag } from '../args/option.ts';

/**
 * What a flag means, and in parentheses its choices, unless its term shows them, and its default.
 */
export function describeFlag(option: Option): string {
  const { description, argChoices, defaultValueDescription, flags } = option;
  const isShown = argChoices && flags.includes(argChoices.join('|'));
  const isRepeatable = option instanceof Flag && option.isRepeatable;
  const notes = [
    argChoices && !isShown ? argChoices.join(', ') : '',
    isRepeatable && argChoices ? 'repeatable, or comma-separated' : '',
    isRepeatable && !argChoices ? 'repeatable' : '',
    defaultValueDescription ? `default: ${defaultValueDescription}` : '',
  ].filter((note) => note !== '');
  return notes.length > 0 ? `${description} (${notes.join('; ')})` : description;
}
