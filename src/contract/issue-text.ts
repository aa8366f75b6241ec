import type { $ZodIssue } from 'zod/v4/core';

/** The path of a value as text: `items[3].id`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text ? `.${String(step)}` : String(step);
  }
  return text;
}

/**
 * Describes the first problem: `items[3].id must be a string`. `whole` is the name of the validated
 * value.
 */
export function issuesText(issues: readonly $ZodIssue[], whole: string): string {
  const [first] = issues;
  return first
    ? `${pathText(first.path) || whole} ${issueText(first)}`
    : `${whole} does not match its schema`;
}

function issueText(issue: $ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return `must ${boundText(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${boundText(issue.origin, 'at most', issue.maximum)}`;
    case 'invalid_type':
      return `must be ${article(issue.expected)}`;
    case 'invalid_format':
      return `is not a valid ${issue.format}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    default:
      return 'does not match its schema';
  }
}

function boundText(origin: string | undefined, which: string, bound: number | bigint = 0): string {
  const plural = Number(bound) === 1 ? '' : 's';
  if (origin === 'string') return `have ${which} ${bound} character${plural}`;
  return origin === 'array' ? `contain ${which} ${bound} item${plural}` : `be ${which} ${bound}`;
}

function article(type: string | undefined): string {
  if (type === undefined) return 'given';
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}
