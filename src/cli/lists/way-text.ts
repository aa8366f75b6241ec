import { unitsText } from '../../base/units.ts';
import type { ReadingWay } from '../../core/pages/merge.ts';

/** What a page costs, and in words what the own pages of the feeds do. */
interface WayCosts {
  readonly page: number;
  readonly own: string;
}

/** How the posts of `feeds`, such as `3 authors`, are read, and what this costs. */
export function wayText({ kind, wholePages }: ReadingWay, feeds: string, costs: WayCosts): string {
  const isKnown = wholePages !== undefined && Number.isFinite(wholePages);
  const whole = isKnown ? `about ${unitsText(wholePages * costs.page)}` : 'more';
  if (kind === 'whole')
    return `reading the whole feed for ${feeds}: ${whole} (their own pages: ${costs.own})`;
  const other = wholePages === undefined ? '' : ` (the whole feed: ${whole})`;
  return `reading the pages of ${feeds}: ${costs.own}${other}`;
}
