import type { PostMark } from '../../tail/post-row.ts';
import type { StoreGap, StoreLoss, StoreNotice } from '../../tail/stored/store-progress.ts';
import { placeText } from '../tail/notice-text.ts';

export function storeNoticeText(notice: StoreNotice, feedId: string): string {
  switch (notice.kind) {
    case 'reading':
      return `reading from the store (${feedId}): 0 CU`;
    case 'away':
      return `${notice.why}; waiting for the store`;
    case 'back':
      return 'the store is available again';
    case 'found':
      return 'the store has the feed again, and no post is missing';
    case 'filling':
      return `the store no longer has the posts ${between(notice)}; fetching them from the service`;
    case 'lost':
      return `${missingText(notice)}; waiting for a relay that continues it`;
    case 'gap':
      return `GAP: ${missingText(notice)}${notice.isFillable ? '; add --fill to fetch them from the service' : ''}`;
  }
}

/** Which posts are missing, or may be, and why. */
export function missingText(missing: StoreGap | StoreLoss): string {
  if (missing.kind === 'lost') {
    const after = missing.last === null ? '' : ` after ${placeText(missing.last)}`;
    return `posts${after} may be missing: the store has lost the feed`;
  }
  return `posts may be missing ${between(missing)}: the store no longer has them`;
}

interface Stretch {
  readonly from: PostMark | null;
  readonly to: PostMark;
}

const between = ({ from, to }: Stretch) => `between ${placeText(from)} and ${placeText(to)}`;
