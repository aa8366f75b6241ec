import { CALLOUT_PAGE } from '../../contract/limits.ts';
import type { Thesis, ThesisFrameData } from '../../contract/records/thesis.ts';
import { calloutKey, thesisKey, thesisKeys } from './feed-keys.ts';
import type { FeedSource, WorldSource } from './source.ts';
import { createTimeline } from './timeline.ts';
import type { World } from './types.ts';
import { createUserStore } from './user-store.ts';

/** Keeps the data of the sandbox in memory: the records of a source, and all changes to them. */
export function createStore(source: WorldSource, withSocials: boolean): World {
  const users = createUserStore(source.users, withSocials);
  const history = once(() => {
    const { numbers, theses } = source.history(users);
    return { numbers, theses: createFeedStore(theses, thesisKey) };
  });
  const launchpad = once(() => {
    const made = source.launchpad();
    return { ...made, callouts: createFeedStore(made.callouts, calloutKey) };
  });

  return {
    users: users.api,
    pnl(handle, now) {
      const { numbers } = history();
      const index = users.indexOfHandle(handle);
      if (index === undefined) return numbers.ofUnknownHandle?.(handle.toLowerCase());
      return { ...numbers.of(index, now), handle: users.handle(index) };
    },
    theses: {
      slice: (filter, before, limit, now) => history().theses.slice(filter, before, limit, now),
      post: (now) => history().theses.post(now),
      add(post) {
        const thesis = pageForm(post);
        history().theses.timeline.add({
          id: post.id,
          // A post without a time counts as older than all others.
          time: post.platformCreatedAt ?? 0,
          keys: thesisKeys(post.authorId, post.tokenAddress),
          make: () => thesis,
        });
      },
      remove: (id) => history().theses.timeline.remove(id),
      withhold: (id, untilMs) => history().theses.timeline.withhold(id, untilMs),
      get count() {
        return history().theses.timeline.count;
      },
    },
    launchpad: {
      user: (wallet) => launchpad().user(wallet),
      callouts: (filter, before, now) => launchpad().callouts.slice(filter, before, CALLOUT_PAGE, now),
      postCallout: (now) => launchpad().callouts.post(now),
      board: (period, at) => launchpad().board(period, at),
    },
  };
}

function createFeedStore<T, Filter, Live extends T>(
  source: FeedSource<T, Filter, Live>,
  keyOf: (filter: Filter) => string | undefined,
) {
  const timeline = createTimeline(source.base);
  for (const arrival of source.initial) timeline.add(arrival);
  return {
    timeline,
    slice(filter: Filter, before: string | undefined, limit: number, now: number) {
      const key = keyOf(filter);
      const selection = key === undefined ? undefined : { key, indices: source.select(filter) };
      return timeline.slice(selection, before, limit, now);
    },
    post(now: number): Live {
      const { record, arrival } = source.next(now);
      timeline.add(arrival);
      return record;
    },
  };
}

/** The post as pages show it, without the two fields that only frames have. */
function pageForm({ authorAvatarUrl, tokenImageUrl, ...thesis }: ThesisFrameData): Thesis {
  return thesis;
}

/** Calls `make` on first use and caches the result. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
