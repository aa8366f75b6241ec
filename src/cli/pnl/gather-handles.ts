import { Failure } from '../../base/failure.ts';
import { normalHandle } from '../../contract/endpoints.ts';
import { readHandle } from '../../core/lookup/resolve.ts';
import type { SubjectSource } from '../args/input.ts';
import { onLine, subjectsOf } from '../args/subjects.ts';
import type { Context } from '../context.ts';

/**
 * All handles of an input in their order, each once, under its first spelling. What cannot be a handle is
 * refused with its line before anything is paid for.
 */
export async function gatherHandles(
  source: SubjectSource,
  context: Pick<Context, 'io' | 'settings'>,
): Promise<string[]> {
  const handles: string[] = [];
  const seen = new Set<string>();
  for await (const { text, line } of subjectsOf(source, context)) {
    try {
      await readHandle(text);
    } catch (error) {
      throw error instanceof Failure && line !== undefined ? onLine(line, error) : error;
    }
    const name = normalHandle(text);
    if (seen.has(name)) continue;
    seen.add(name);
    handles.push(text.trim());
  }
  return handles;
}
