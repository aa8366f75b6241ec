import { Failure } from '../../base/failure.ts';
import type { PageFeed } from '../../core/pages/walk.ts';
import type { Context } from '../context.ts';
import { unitsText } from './estimate.ts';

/** Limits a walk without a known end to `confirmAbove`, unless confirmed. `dearest` is the most that one page costs. */
export function stopAtThreshold<T>(feed: PageFeed<T>, context: Context, maxPageCost: number): PageFeed<T> {
  const { confirmAbove, maxCu } = context.settings;
  if (context.globals.yes || maxCu !== undefined) return feed;
  return {
    ...feed,
    async page(...request) {
      if (context.spent + maxPageCost > confirmAbove) throw enough(context.spent, confirmAbove);
      return await feed.page(...request);
    },
  };
}

const enough = (spent: number, confirmAbove: number) =>
  new Failure('limit', `stopped after ${unitsText(spent)}; there are more results`, {
    code: 'CONFIRM_ABOVE',
    hint: `to spend more than ${unitsText(confirmAbove)}, pass --yes, --max-cu N or --limit N`,
  });
