import { Failure } from '../../base/failure.ts';
import type { PageFeed } from '../../core/pages/walk.ts';
import type { Context } from '../context.ts';
import { unitsText } from './estimate.ts';

/**
 * A walk whose end nobody knows goes on unasked for as long as it costs no more than goes unasked.
 * `dearest` is the most that one page costs.
 */
export function stopAtThreshold<T>(feed: PageFeed<T>, context: Context, dearest: number): PageFeed<T> {
  const { confirmAbove, maxCu } = context.settings;
  if (context.globals.yes || maxCu !== undefined) return feed;
  return {
    ...feed,
    async page(...request) {
      if (context.spent + dearest > confirmAbove) throw enough(context.spent, confirmAbove);
      return await feed.page(...request);
    },
  };
}

const enough = (spent: number, confirmAbove: number) =>
  new Failure('limit', `the walk has cost ${unitsText(spent)} and is not at its end`, {
    code: 'CONFIRM_ABOVE',
    hint: `more than ${unitsText(confirmAbove)} is not spent unasked: say --yes, --limit N or --max-cu N`,
  });
