/** The width that a column asks for, in cells. */
export interface WidthRequest {
  /** The width of the widest cell in each variant, the longest variant first. There is at least one. */
  readonly forms: readonly number[];
  readonly title: number;
  readonly rank: number;
  /** The minimum width after cutting or wrapping. If neither is allowed, the full width. */
  readonly least: number;
  /**
   * A width that is comfortable to read. A column is cut to this width before others are shortened for a
   * small gain.
   */
  readonly ease: number;
}

/** The layout of a column: its index in the table, its width, and which variant its cells use. */
export interface FittedWidths {
  readonly index: number;
  readonly width: number;
  readonly form: number;
}

interface Share {
  readonly index: number;
  readonly request: WidthRequest;
  form: number;
  width: number;
}

const natural = (request: WidthRequest, form: number) => Math.max(1, request.title, request.forms[form] ?? 0);
const sum = (shares: readonly Share[], gap: number) =>
  shares.reduce((total, share) => total + share.width, gap * Math.max(0, shares.length - 1));

/**
 * Shortens one column at a time, the one with the largest gain first, as long as a step gains at least
 * `worth` cells.
 */
function shortenForms(shares: Share[], room: number, gap: number, worth: number): void {
  while (sum(shares, gap) > room) {
    let best: Share | undefined;
    let gain = 0;
    for (const share of shares) {
      if (share.form + 1 >= share.request.forms.length) continue;
      const saved = share.width - natural(share.request, share.form + 1);
      if (saved >= worth && (saved > gain || best === undefined)) {
        best = share;
        gain = saved;
      }
    }
    if (!best) return;
    best.form++;
    best.width = natural(best.request, best.form);
  }
}

/** Narrows the widest columns first, but none below `least`. */
function narrow(shares: Share[], room: number, gap: number, least: (share: Share) => number): void {
  let over = sum(shares, gap) - room;
  while (over > 0) {
    const spare = shares.filter((share) => share.width > least(share));
    if (spare.length === 0) return;
    const widest = Math.max(...spare.map((share) => share.width));
    const top = spare.filter((share) => share.width === widest);
    const next = Math.max(
      1,
      ...spare.filter((share) => share.width < widest).map((share) => share.width),
      ...top.map(least),
    );
    const cut = Math.max(1, Math.min(widest - next, Math.floor(over / top.length)));
    for (const share of top) {
      if (over <= 0) break;
      const taken = Math.min(cut, over, share.width - least(share));
      share.width -= taken;
      over -= taken;
    }
  }
}

/** Uses longer variants again where more width was gained than needed. */
function widen(shares: Share[], room: number, gap: number): void {
  for (const share of shares) {
    while (share.form > 0) {
      const width = natural(share.request, share.form - 1);
      if (sum(shares, gap) - share.width + width > room) break;
      share.form--;
      share.width = width;
    }
  }
}

/**
 * Divides the width of a terminal among columns. Columns use shorter variants, then are cut to their minimum
 * width, then dropped, the highest rank first. Columns of rank 0 are never dropped; as a last resort, they
 * are cut below their minimum. Without `mayCut`, no column is dropped and each gets its minimum, so the table
 * may be wider than the terminal.
 */
export function fitColumns(
  requests: readonly WidthRequest[],
  room: number,
  gap: number,
  mayCut = true,
): readonly FittedWidths[] {
  const remaining = requests.map((_, index) => index);
  for (;;) {
    const shares = remaining.flatMap((index): Share[] => {
      const request = requests[index];
      return request ? [{ index, request, form: 0, width: natural(request, 0) }] : [];
    });
    const least = (share: Share) => Math.min(share.request.least, natural(share.request, share.form));
    // First shorten addresses and cut texts slightly: that loses little.
    shortenForms(shares, room, gap, 10);
    narrow(shares, room, gap, (share) => Math.max(share.request.ease, least(share)));
    shortenForms(shares, room, gap, 0);
    narrow(shares, room, gap, least);
    widen(shares, room, gap);
    if (sum(shares, gap) <= room || !mayCut)
      return shares.map(({ index, width, form }) => ({ index, width, form }));

    let drop = -1;
    let rank = 0;
    for (const [place, index] of remaining.entries()) {
      const own = requests[index]?.rank ?? 0;
      if (own > 0 && own >= rank) {
        drop = place;
        rank = own;
      }
    }
    if (drop >= 0) {
      remaining.splice(drop, 1);
      continue;
    }
    narrow(shares, room, gap, () => 1);
    if (sum(shares, gap) <= room || remaining.length <= 1) {
      return shares.map(({ index, width, form }) => ({ index, width, form }));
    }
    remaining.pop();
  }
}
