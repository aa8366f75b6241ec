/** What a column wants, in cells; the layout decides what it gets. */
export interface WidthRequest {
  /** Width of the widest cell in each form, the fullest form first; never less than one form. */
  readonly forms: readonly number[];
  readonly title: number;
  readonly rank: number;
  /** May be cut or wrapped down to this; equal to the natural width where it may not. */
  readonly least: number;
  /** Wide enough to read with ease: cutting down to this comes before shortening forms a little. */
  readonly ease: number;
}

/** What a column got: its place in the table, its width, and the form of its cells. */
export interface FittedWidths {
  readonly index: number;
  readonly width: number;
  readonly form: number;
}

interface Share {
  readonly index: number;
  readonly want: WidthRequest;
  form: number;
  width: number;
}

const natural = (want: WidthRequest, form: number) => Math.max(1, want.title, want.forms[form] ?? 0);
const sum = (shares: readonly Share[], gap: number) =>
  shares.reduce((total, share) => total + share.width, gap * Math.max(0, shares.length - 1));

/** Shortens forms, one step at a time, where that gains most, and at least `worth` cells. */
function shortenForms(shares: Share[], room: number, gap: number, worth: number): void {
  while (sum(shares, gap) > room) {
    let best: Share | undefined;
    let gain = 0;
    for (const share of shares) {
      if (share.form + 1 >= share.want.forms.length) continue;
      const saved = share.width - natural(share.want, share.form + 1);
      if (saved >= worth && (saved > gain || best === undefined)) {
        best = share;
        gain = saved;
      }
    }
    if (!best) return;
    best.form++;
    best.width = natural(best.want, best.form);
  }
}

/** Takes from the widest, cell by cell, down to what each can spare. */
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

/** Gives back what shortening a form left over: fuller forms first, then cut columns. */
function widen(shares: Share[], room: number, gap: number): void {
  for (const share of shares) {
    while (share.form > 0) {
      const width = natural(share.want, share.form - 1);
      if (sum(shares, gap) - share.width + width > room) break;
      share.form--;
      share.width = width;
    }
  }
}

/**
 * Shares out the width of a terminal. Columns are shown in shorter forms, then cut down to what they bear,
 * then dropped, the highest rank first; where even the first columns are too wide, they are cut further. Without
 * `mayCut` nothing is dropped, and no column gets less than it bears, so that the table may be wider than the terminal.
 */
export function fitColumns(
  wants: readonly WidthRequest[],
  room: number,
  gap: number,
  mayCut = true,
): readonly FittedWidths[] {
  const left = wants.map((_, index) => index);
  for (;;) {
    const shares = left.flatMap((index): Share[] => {
      const want = wants[index];
      return want ? [{ index, want, form: 0, width: natural(want, 0) }] : [];
    });
    const least = (share: Share) => Math.min(share.want.least, natural(share.want, share.form));
    // Addresses lose little by being shortened, and long texts by being cut somewhat; the rest comes after.
    shortenForms(shares, room, gap, 10);
    narrow(shares, room, gap, (share) => Math.max(share.want.ease, least(share)));
    shortenForms(shares, room, gap, 0);
    narrow(shares, room, gap, least);
    widen(shares, room, gap);
    if (sum(shares, gap) <= room || !mayCut)
      return shares.map(({ index, width, form }) => ({ index, width, form }));

    let drop = -1;
    let rank = 0;
    for (const [place, index] of left.entries()) {
      const own = wants[index]?.rank ?? 0;
      if (own > 0 && own >= rank) {
        drop = place;
        rank = own;
      }
    }
    if (drop >= 0) {
      left.splice(drop, 1);
      continue;
    }
    narrow(shares, room, gap, () => 1);
    if (sum(shares, gap) <= room || left.length <= 1) {
      return shares.map(({ index, width, form }) => ({ index, width, form }));
    }
    left.pop();
  }
}
