import type { AnyCommand, Examples } from '../command.ts';
import { readProse } from './prose.ts';

/** The page of a command: what it does, how, and examples. */
interface CommandProse {
  readonly summary: string;
  readonly about: readonly string[];
  readonly examples: Examples;
}

export function commandProse({ path, page, inserts }: AnyCommand): CommandProse {
  const { title, text, sections } = readProse(page, inserts);
  const [examples, ...others] = sections;
  if (examples?.title !== 'Examples' || examples.code === undefined || others.length > 0)
    throw new Error(`the page of "trdr ${path}" needs one section: Examples`);
  return { summary: title, about: text, examples: examples.code };
}
