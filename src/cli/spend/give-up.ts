import { unitsText } from '../../base/units.ts';
import type { WalkFilter } from '../../core/pages/walk.ts';
import { MAX_PAGES_WITHOUT_MATCH } from '../args/list-flags.ts';
import type { Context } from '../context.ts';

/** Stops a list of at most N rows after too many pages in a row without a match, and tells the user how to continue. */
export const giveUp = (context: Context): Pick<WalkFilter<unknown>, 'maxPages' | 'onGiveUp'> => ({
  maxPages: MAX_PAGES_WITHOUT_MATCH,
  onGiveUp: (pages, before) =>
    context.notice(
      `stopped after ${pages} pages in a row without a match (${unitsText(context.spent)}); there are more pages: continue with --before ${before}, or use --all`,
    ),
});
