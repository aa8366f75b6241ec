/** Damerau-Levenshtein distance (optimal string alignment). */
function distance(from: string, to: string): number {
  const a = [...from];
  const b = [...to];
  let before: number[] = [];
  let last = b.map((_, index) => index + 1);
  last.unshift(0);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (cells: number[], index: number) => cells[index] ?? Number.POSITIVE_INFINITY;
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(before, j - 2) + 1);
      }
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Returns at most three similar names, best first. @internal Exported for tests. */
export function suggest(word: string, candidates: Iterable<string>): string[] {
  const typed = word.toLowerCase().slice(0, 64);
  if (typed === '') return [];
  const allowed = Math.max(1, Math.floor(typed.length / 3));
  const near: { name: string; score: number }[] = [];
  for (const name of new Set(candidates)) {
    const lower = name.toLowerCase();
    // The end of a dotted path and the beginning of a name count as one change.
    const part = lower.endsWith(`.${typed}`) || (typed.length > 2 && lower.startsWith(typed));
    const score = part ? 1 : distance(typed, lower.slice(0, 96));
    if (score <= allowed) near.push({ name, score });
  }
  near.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return near.slice(0, 3).map(({ name }) => name);
}

export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  show = (name: string) => name,
): string {
  const near = suggest(word, candidates).map(show);
  const last = near.pop();
  if (last === undefined) return '';
  return `Did you mean ${near.length > 0 ? `${near.join(', ')} or ${last}` : last}?`;
}
