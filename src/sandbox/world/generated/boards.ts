import { BOARD_SIZE } from '../../../contract/limits.ts';
import type { Board, BoardEntry, BoardPeriod } from '../../../contract/records/launchpad.ts';
import { DAY, HOUR, hash, round2, unit } from '../hash.ts';
import type { Accounts } from './launchpad-accounts.ts';

/** The period that a board covers, and the time between its snapshots. */
const periods: Readonly<Record<BoardPeriod, { readonly span: number; readonly every: number }>> = {
  daily: { span: DAY, every: HOUR },
  weekly: { span: 7 * DAY, every: 6 * HOUR },
  monthly: { span: 30 * DAY, every: DAY },
};
/** The age of the oldest available snapshot. */
const RETENTION = 180 * DAY;
const salt = { wealth: 111, realized: 112, unrealized: 113, form: 114, sol: 115 };

/** The response if there is no snapshot. */
export const emptyBoard = (period: BoardPeriod): Board => ({
  period,
  capturedAt: null,
  count: 0,
  entries: [],
});

/** The leaderboard snapshots of the launchpad; `now` is the end of the generated history. */
export function createBoards(
  seed: number,
  now: number,
  accounts: Accounts,
): (period: BoardPeriod, at: number) => Board {
  const origin = now - RETENTION;

  /** Value noise from -1 to 1: a smooth random curve. */
  function noise(part: number, index: number, place: number): number {
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
    // The periods of neighboring snapshots overlap, so their values must be similar.
    const place = (capturedAt - origin) / (span / 2);
    const solUsd = 150 + 60 * noise(salt.sol, 0, (capturedAt - origin) / (20 * DAY));
    const scale = Math.sqrt(span / DAY);
    const results: { index: number; realized: number; unrealized: number; total: number; weight: number }[] =
      [];
    for (let index = 0; index < accounts.count; index++) {
      const wealth = unit(seed, salt.wealth, index);
      const weight = (40 + 60_000 * wealth * wealth * wealth * wealth) * scale;
      const realized = round2(weight * (noise(salt.realized + span / DAY, index, place) + 0.15));
      const unrealized = round2(weight * 0.6 * noise(salt.unrealized + span / DAY, index, place * 2));
      results.push({ index, realized, unrealized, total: realized + unrealized, weight });
    }
    results.sort((a, b) => b.total - a.total || a.index - b.index);
    const entries = results
      .slice(0, BOARD_SIZE)
      .map(({ index, realized, unrealized, total, weight }, row) => {
        const account = accounts.record(index);
        const bits = hash(seed, salt.form, index);
        const entry: BoardEntry = {
          rank: row + 1,
          wallet: account.wallet,
          username: account.username,
          isVerified: account.isVerified,
          pnlSol: round2(total / solUsd),
          pnlUsd: round2(total),
          pnlPercent: bits % 13 === 1 ? null : round2((total / (weight * 1.7)) * 100),
          realizedPnlUsd: realized,
          unrealizedPnlUsd: unrealized,
        };
        return entry;
      });
    return { period, capturedAt, count: entries.length, entries };
  };
}
