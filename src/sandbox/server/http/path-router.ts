import type { AnyEndpoint } from '../../../contract/endpoint.ts';

/** A path of the table, ready to be matched. */
interface Pattern<Id> {
  readonly id: Id;
  readonly method: string;
  readonly segments: readonly string[];
}

/** What a path leads to. Parameters are decoded; `undefined` where one can't be. */
export interface Match<Id> {
  readonly id: Id;
  readonly params: Readonly<Record<string, string>> | undefined;
}

/** Finds the endpoint of a path; parameters may be empty there, as their bounds say what is wrong with that. */
export function createRouter<Id extends string>(
  table: Readonly<Record<Id, Pick<AnyEndpoint, 'method' | 'path'>>>,
): (method: string, path: string) => Match<Id> | undefined {
  const bySize = new Map<number, Pattern<Id>[]>();
  for (const id in table) {
    const segments = table[id].path.split('/');
    const same = bySize.get(segments.length) ?? [];
    bySize.set(segments.length, [...same, { id, method: table[id].method, segments }]);
  }
  return (method, path) => {
    const parts = path.split('/');
    const found = bySize.get(parts.length)?.find((pattern) => {
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
