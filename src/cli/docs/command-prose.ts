import type { AnyCommand, Examples } from '../command.ts';
import { readProse, type Section } from './prose.ts';

/** The page of a command: what it does, how, examples, and the details by their titles. */
export interface CommandProse {
  readonly summary: string;
  readonly about: readonly string[];
  readonly examples: Examples;
  readonly details: readonly Section[];
}

export function commandProse({ path, page, inserts }: AnyCommand): CommandProse {
  const { title, text, sections } = readProse(page, inserts);
  const [examples, ...details] = sections;
  if (examples?.title !== 'Examples' || examples.code === undefined)
    throw new Error(`the page of "trdr ${path}" needs a first section: Examples`);
  return { summary: title, about: text, examples: examples.code, details };
}
