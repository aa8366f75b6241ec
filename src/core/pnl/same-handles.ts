import { normalHandle } from '../../contract/handles.ts';

/**
 * Returns the first position of each distinct handle, and the other positions with the same handle. Without
 * `handleAt`, all positions have distinct handles.
 */
export function groupSameHandles(
  positions: readonly number[],
  handleAt: ((position: number) => string | undefined) | undefined,
): { readonly todo: readonly number[]; readonly sharing: ReadonlyMap<number, readonly number[]> } {
  const sharing = new Map<number, number[]>();
  if (!handleAt) return { todo: positions, sharing };
  const first = new Map<string, number>();
  const todo = positions.filter((position) => {
    const handle = normalHandle(handleAt(position) ?? '');
    const earlier = first.get(handle);
    if (earlier === undefined) first.set(handle, position);
    else sharing.set(earlier, [...(sharing.get(earlier) ?? []), position]);
    return earlier === undefined;
  });
  return { todo, sharing };
}
