import type { AnyEndpoint } from '../../../contract/endpoint.ts';

/** A path from the endpoint table, split into segments. */
interface Pattern<Id> {
  readonly id: Id;
  readonly method: string;
  readonly segments: readonly string[];
}

/** The endpoint of a path. `params` is undefined if a path parameter cannot be decoded. */
export interface PathMatch<Id> {
  readonly id: Id;
  readonly params: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns a function that finds the endpoint of a path. Empty parameters match too, so that their schema
 * rejects them with a message.
 */
export function createRouter<Id extends string>(
  table: Readonly<Record<Id, Pick<AnyEndpoint, 'method' | 'path'>>>,
): (method: string, path: string) => PathMatch<Id> | undefined {
  const byLength = new Map<number, Pattern<Id>[]>();
  for (const id in table) {
    const segments = table[id].path.split('/');
    const same = byLength.get(segments.length) ?? [];
    byLength.set(segments.length, [...same, { id, method: table[id].method, segments }]);
  }
  return (method, path) => {
    const parts = path.split('/');
    const found = byLength.get(parts.length)?.find((pattern) => {
      return pattern.method === method && pattern.segments.every((part, at) => fits(part, parts[at]));
    });
    return found && { id: found.id, params: paramsOf(found.segments, parts) };
  };
}

const isParam = (segment: string) => segment.startsWith('{');
const fits = (segment: string, part: string | undefined) => isParam(segment) || segment === part;

function paramsOf(segments: readonly string[], parts: readonly string[]) {
  const params: Record<string, string> = {};
  try {
    for (const [at, segment] of segments.entries()) {
      if (isParam(segment)) params[segment.slice(1, -1)] = decodeURIComponent(parts[at] ?? '');
    }
    return params;
  } catch {
    return undefined;
  }
}
