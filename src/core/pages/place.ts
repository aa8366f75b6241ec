/** Where one of several feeds is read from; from its newest post on if nothing is stated. */
export interface FeedPlace {
  /** Below the post with this id. */
  readonly after?: string;
  /** From the newest post on, without those after this time. */
  readonly upTo?: number;
  /** The feed has nothing more. */
  readonly isEnded?: boolean;
}

/** Where a list of several feeds begins. */
export interface SeveralStart {
  /** Which feeds the list can be read from: the whole one, those of its own, or the cheaper. */
  readonly way: 'whole' | 'own' | 'either';
  /** The place in the whole feed; undefined for its newest page. */
  readonly whole?: string | undefined;
  /** The places in the own feeds; undefined below a post of which only the id is known. */
  readonly own?: readonly FeedPlace[];
  /** Whether this is the beginning of the list, so that no post is too new for it. */
  readonly isNew: boolean;
}

/**
 * From so many feeds on, a page of the whole feed is a small price for finding out which way is
 * cheaper.
 */
const WORTH_A_LOOK = 5;

const ENDED = '-';
const AS_TIME = /^@\d{1,16}$/;

/**
 * Where a list of so many feeds begins: at the newest posts, at the places that an earlier list has
 * printed, or below the post with one id. Undefined if the places are those of another list.
 */
export function severalStart(
  before: string | undefined,
  feeds: number,
  now: number,
): SeveralStart | undefined {
  if (before === undefined) {
    const own = Array.from({ length: feeds }, () => ({ upTo: now }));
    return { way: feeds < WORTH_A_LOOK ? 'own' : 'either', own, isNew: true };
  }
  const [first = '', ...others] = before.split(',');
  if (others.length === 0) return { way: 'whole', whole: before, isNew: false };
  if (others.length === feeds)
    return { way: 'either', whole: decoded(first), own: others.map(placeIn), isNew: false };
  if (others.length + 1 !== feeds) return undefined;
  return { way: 'own', own: [first, ...others].map(placeIn), isNew: false };
}

/** The text of a place in the whole feed, if it is read, and of those in the own feeds. */
export const placesText = (whole: string | undefined, own: readonly FeedPlace[]): string =>
  [...(whole === undefined ? [] : [encoded(whole)]), ...own.map(textOf)].join(',');

function textOf({ after, upTo, isEnded }: FeedPlace): string {
  if (isEnded) return ENDED;
  if (after !== undefined) return encoded(after);
  return upTo === undefined ? '' : `@${upTo}`;
}

function placeIn(text: string): FeedPlace {
  if (text === ENDED) return { isEnded: true };
  if (AS_TIME.test(text)) return { upTo: Number(text.slice(1)) };
  return text === '' ? {} : { after: decoded(text) };
}

/** An id can contain what separates places, or look like another place. */
const encoded = (id: string): string =>
  id.replace(/[%,@]|^-$/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const decoded = (text: string): string =>
  text.replace(/%(25|2C|40|2D)/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
