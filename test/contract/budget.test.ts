import { expect, it } from 'vitest';
import { raiseText } from '../../src/contract/budget.ts';

it.each([
  ['a profile', 'profile', 'raise it: trdr budget set day N'],
  ['all machines', 'key', 'raise it: trdr budget set day N'],
  ['one machine', 'machine', 'raise it: trdr budget set day N --machine desk'],
] as const)('states the command that raises the budget of %s', (_, scope, text) => {
  expect(raiseText({ period: 'day', scope, name: scope === 'key' ? '' : 'desk' })).toBe(text);
});
