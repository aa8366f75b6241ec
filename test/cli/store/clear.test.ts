import { expect, test } from 'vitest';
import { runInProcess } from '../../e2e/in-process.ts';

test.each([
  [
    'a name after a word that takes none',
    ['cache', 'thesis'],
    'only "feed" takes a name',
    'store clear cache',
  ],
  ['no name of a feed', ['feed'], 'requires the argument NAME', 'store clear feed NAME'],
  ['an unknown word', ['feeds', 'thesis'], 'invalid value "feeds"', 'choose from cache, feed, all'],
])(
  'store clear rejects %s, and suggests a command that clears nothing else',
  async (_, args, message, hint) => {
    const { exitCode, stderr } = await runInProcess(['store', 'clear', ...args]);
    expect(exitCode).toBe(2);
    const { error } = JSON.parse(stderr);
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  },
);
