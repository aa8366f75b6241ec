/** The widths that a column can use, in terminal cells. */
export interface WidthRequest {
  /**
   * The width of the widest cell in each variant, longest variant first. A column has at least one variant.
   */
  readonly forms: readonly number[];
  readonly title: number;
  readonly rank: number;
  /** The minimum width after cutting or wrapping; the full width if the column must not be cut or wrapped. */
  readonly least: number;
  /** A comfortable width: the column is first cut only to this width, and to `least` only if necessary. */
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
 * Gives columns shorter variants until the columns fit in `room`. Each step shortens the column that saves
 * the most cells; a step that saves fewer than `worth` cells is not made.
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

/** Narrows the widest columns first, but no column below `least`. */
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

/** Gives columns longer variants again while the table still fits. */
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
 * Divides the width of a terminal among columns. If the columns do not fit, they first use shorter variants,
 * are then cut to their minimum width, and are then dropped, highest rank first. Columns of rank 0 are cut
 * below their minimum instead, and dropped only if they do not fit with one cell each. Without `mayCut`, no
 * column is dropped and each column has at least its minimum width, so the table may be wider than the
 * terminal.
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
    // First use shorter variants that save at least 10 cells, such as those of addresses, and cut texts to a
    // comfortable width, because this loses little information.
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
