import { THESIS_BLOCK } from '../../contract/limits.ts';
import { thesisCall, thesisSizes } from '../../core/pages/feeds.ts';
import { thesisView } from '../../output/views/thesis.ts';

const call = thesisCall({}, { limit: THESIS_BLOCK });

/** What lists of theses have in common. */
export const theses = {
  view: thesisView,
  noun: ['thesis', 'theses'],
  symbolField: 'tokenSymbol',
  networkField: 'tokenNetwork',
  authorField: 'authorId',
  pageRows: THESIS_BLOCK,
  sizes: thesisSizes,
  page: call,
  wholePage: call,
} as const;
