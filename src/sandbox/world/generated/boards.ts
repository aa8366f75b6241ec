import { BOARD_SIZE } from '../../../contract/limits.ts';
import type { Board, BoardEntry, BoardPeriod } from '../../../contract/records/launchpad.ts';
import { DAY, HOUR, hash, round2, unit } from '../hash.ts';
import type { Accounts } from './launchpad-accounts.ts';

/** How long a board reaches back, and how often one is captured. */
const periods: Readonly<Record<BoardPeriod, { readonly span: number; readonly every: number }>> = {
  daily: { span: DAY, every: HOUR },
  weekly: { span: 7 * DAY, every: 6 * HOUR },
  monthly: { span: 30 * DAY, every: DAY },
};
/** How long captured boards are kept. */
const KEPT = 180 * DAY;
const salt = { means: 111, realized: 112, running: 113, form: 114, sol: 115 };

/** The board of a period that has none. */
export const emptyBoard = (period: BoardPeriod): Board => ({
  period,
  capturedAt: null,
  count: 0,
  entries: [],
});

/** The leaderboards of the launchpad, as captured; `now` is where the world's history ends. */
export function createBoards(
  seed: number,
  now: number,
  accounts: Accounts,
): (period: BoardPeriod, at: number) => Board {
  const origin = now - KEPT;

  /** Between -1 and 1, walking smoothly from one hashed point to the next. */
  function wander(part: number, index: number, place: number): number {
    const floor = Math.floor(place);
    const from = unit(seed, part, index * 8191 + floor);
    const to = unit(seed, part, index * 8191 + floor + 1);
    const share = place - floor;
    return (from + (to - from) * share * share * (3 - 2 * share)) * 2 - 1;
  }

  return (period, at) => {
    const { span, every } = periods[period];
    const capturedAt = Math.floor(at / every) * every;
    if (!(capturedAt >= origin)) return emptyBoard(period);
    // Half a period on, most of what a board counts is still in it: neighbours are alike, not the same.
    const place = (capturedAt - origin) / (span / 2);
    const solUsd = 150 + 60 * wander(salt.sol, 0, (capturedAt - origin) / (20 * DAY));
    const scale = Math.sqrt(span / DAY);
    const standing: { index: number; realized: number; running: number; total: number; means: number }[] = [];
    for (let index = 0; index < accounts.count; index++) {
      const means = unit(seed, salt.means, index);
      const weight = (40 + 60_000 * means * means * means * means) * scale;
      const realized = round2(weight * (wander(salt.realized + span / DAY, index, place) + 0.15));
      const running = round2(weight * 0.6 * wander(salt.running + span / DAY, index, place * 2));
      standing.push({ index, realized, running, total: realized + running, means: weight });
    }
    standing.sort((a, b) => b.total - a.total || a.index - b.index);
    const entries = standing.slice(0, BOARD_SIZE).map(({ index, realized, running, total, means }, row) => {
      const account = accounts.record(index);
      const bits = hash(seed, salt.form, index);
      const entry: BoardEntry = {
        rank: row + 1,
        wallet: account.wallet,
        username: account.username,
        isVerified: account.isVerified,
        pnlSol: round2(total / solUsd),
        pnlUsd: round2(total),
        pnlPercent: bits % 13 === 1 ? null : round2((total / (means * 1.7)) * 100),
        realizedPnlUsd: realized,
        unrealizedPnlUsd: running,
      };
      return entry;
    });
    return { period, capturedAt, count: entries.length, entries };
  };
}
