import type { Board, Callout, LaunchpadUser } from '../../../contract/records/launchpad.ts';
import { bytesToHex, normalAddress, numbered } from '../address.ts';
import { calloutKeys } from '../feed-keys.ts';
import { emptyBoard } from '../generated/boards.ts';
import type { LaunchpadSource } from '../source.ts';
import { type Arrival, emptyBase } from '../timeline.ts';

const salt = { id: 141 };

/** The launchpad from files. Live callouts repeat the callouts of the file, starting with the oldest. */
export function loadedLaunchpad(
  seed: number,
  users: readonly LaunchpadUser[],
  callouts: readonly Callout[],
  boards: readonly Board[],
): LaunchpadSource {
  const ids = numbered(seed, salt.id);
  const byWallet = new Map(users.map((user) => [normalAddress(user.wallet), user]));
  const oldestFirst = callouts.toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
  const latestFirst = boards.toSorted((a, b) => (b.capturedAt ?? 0) - (a.capturedAt ?? 0));
  let posted = 0;

  const arrivalOf = (callout: Callout): Arrival<Callout> => ({
    id: callout.id,
    time: callout.createdAt ?? 0,
    keys: calloutKeys(callout),
    make: () => callout,
  });

  return {
    user: (wallet) => byWallet.get(normalAddress(wallet)),
    callouts: {
      base: emptyBase,
      select: () => undefined,
      initial: oldestFirst.map(arrivalOf),
      next(now) {
        const template = oldestFirst[posted % Math.max(1, oldestFirst.length)] ?? blankCallout;
        const record: Callout = {
          ...template,
          id: bytesToHex(ids.bytes(posted, 12)),
          createdAt: Math.floor(now),
          multiple: template.multiple === null ? null : 1,
          maxMultiplier: template.maxMultiplier === null ? null : 1,
        };
        posted++;
        return { record, arrival: arrivalOf(record) };
      },
    },
    board: (period, at) =>
      latestFirst.find((board) => board.period === period && (board.capturedAt ?? 0) <= at) ??
      emptyBoard(period),
  };
}

const blankCallout: Callout = {
  id: '',
  createdAt: null,
  wallet: '11111111111111111111111111111111',
  userName: null,
  xUsername: null,
  isVerified: null,
  coinMint: '11111111111111111111111111111111',
  chain: null,
  coinSymbol: null,
  coinName: null,
  thesis: null,
  mediaUrl: null,
  calledOutAtMcap: null,
  multiple: null,
  maxMultiplier: null,
};
