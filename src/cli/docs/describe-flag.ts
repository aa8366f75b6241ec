import type { Option } from 'commander';
import { Flag } from '../args/option.ts';

/**
 * What a flag means, and in parentheses its choices, unless its term shows them, and its default.
 */
export function describeFlag(option: Option): string {
  const { description, argChoices, defaultValueDescription, flags } = option;
  const isShown = argChoices && flags.includes(argChoices.join('|'));
  const notes = [
    argChoices && !isShown ? argChoices.join(', ') : '',
    option instanceof Flag && option.isRepeatable ? howOften(option) : '',
    defaultValueDescription ? `default: ${defaultValueDescription}` : '',
  ].filter((note) => note !== '');
  return notes.length > 0 ? `${description} (${notes.join('; ')})` : description;
}

const howOften = ({ kind }: Flag<unknown>): string =>
  kind?.hasCommas ? 'repeatable' : 'repeatable, or comma-separated';
