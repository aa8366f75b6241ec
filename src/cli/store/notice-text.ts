import { countText } from '../../base/units.ts';
import type { PostMark } from '../../tail/post-row.ts';
import type { StoreGap, StoreLoss, StoreNotice } from '../../tail/stored/store-progress.ts';
import { placeText } from '../tail/notice-text.ts';

/** What a run reads in the store. */
export interface StoredNames {
  readonly feedId: string;
  /** What the texts call it: the feed, or a group. */
  readonly name: string;
}

export function storeNoticeText(notice: StoreNotice, names: StoredNames): string {
  const { feedId, name } = names;
  switch (notice.kind) {
    case 'reading':
      return `reading from the store (${feedId}): 0 CU`;
    case 'away':
      return `${notice.why}; waiting for the store`;
    case 'interrupted':
      return notice.why;
    case 'back':
      return 'the store is available again';
    case 'found':
      return 'the store has the feed again, and no post is missing';
    case 'standby':
      return `standing by: another member of ${name} is active`;
    case 'active':
      return `reading from the store (${feedId}) as a member of ${name}: 0 CU`;
    case 'filling':
      return `the store no longer has the posts ${between(notice)}; fetching them from the service`;
    case 'lost':
      return `${missingText(notice, names)}; waiting for a relay that continues it`;
    case 'gap':
      return `GAP: ${missingText(notice, names)}${notice.isFillable ? '; add --fill to fetch them from the service' : ''}`;
  }
}

/** Which posts are missing, or may be, and why. */
export function missingText(missing: StoreGap | StoreLoss, { name }: StoredNames): string {
  if (missing.kind === 'lost') {
    const after = missing.last === null ? '' : ` after ${placeText(missing.last)}`;
    return `posts${after} may be missing: the store has lost ${name}`;
  }
  if (missing.missing === undefined)
    return `posts may be missing ${between(missing)}: the store no longer has them`;
  if (missing.missing === null)
    return `the store has lost ${name}, and posts may be missing, ${between(missing)}`;
  const posts = countText(missing.missing, 'post');
  return `the store no longer has ${posts} that ${name} did not read, ${between(missing)}`;
}

interface Stretch {
  readonly from: PostMark | null;
  readonly to: PostMark;
}

const between = ({ from, to }: Stretch) => `between ${placeText(from)} and ${placeText(to)}`;
