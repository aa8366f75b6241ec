import { addTo } from '../../base/add-to.ts';
import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { isUserId } from '../../core/lookup/subject.ts';

/** The records of one trader in an export, who may be there by a handle and by wallets. */
export interface ExportedTrader {
  readonly records: readonly PnlRecord[];
  /** Undefined if nothing was found. */
  readonly handle: string | undefined;
  readonly wallets: readonly string[];
  readonly subjects: readonly string[];
}

/** What a trader was called before, for records that share no name with the earlier export. */
export type FormerNames = (record: PnlRecord) => readonly string[];

const namesIn = (...values: readonly unknown[]): string[] =>
  values.map(textOf).flatMap((name) => (name ? [normalHandle(name)] : []));

/** The names by which a record is found: the handle first, because it is the clearest. */
export const exportedNames = (record: PnlRecord): string[] => {
  const { subject } = record;
  if (record.found !== true) return namesIn(subject);
  return namesIn(record['handle'], subject, record['wallet'], record['evmWallet']);
};

/** The traders of an export, in the order of their first records. */
export function tradersOf(records: readonly PnlRecord[]): ExportedTrader[] {
  const byKey = new Map<string, PnlRecord[]>();
  for (const record of records) {
    const key = `${record.found} ${exportedNames(record)[0] ?? ''}`;
    addTo(byKey, key, record);
  }
  return [...byKey.values()].map((own) => ({
    records: own,
    handle: namesIn(...own.map((record) => record.found === true && record['handle']))[0],
    wallets: own.flatMap((record) =>
      record.found === true ? namesIn(record['wallet'], record['evmWallet']) : [],
    ),
    subjects: own.flatMap(({ subject }) => namesIn(subject)),
  }));
}

export const isFound = ({ records: [first] }: ExportedTrader): boolean => first?.found === true;

/**
 * Pairs the traders of a run with those of an earlier export, each with one at most. Handles and
 * wallets pass to others, so the signs are tried from the strongest to the weakest.
 */
export function pairTraders(
  now: readonly ExportedTrader[],
  earlier: readonly ExportedTrader[],
  formerNames: FormerNames,
): ReadonlyMap<ExportedTrader, ExportedTrader> {
  const pairs = new Pairs();
  const present = now.filter(isFound);
  const before = earlier.filter(isFound);
  const byHandle = new TraderIndex(before, ({ handle }) => [handle]);
  const byWallet = new TraderIndex(before, ({ wallets }) => wallets);
  const bySubject = new TraderIndex(before, ({ subjects }) => subjects);
  const presentWallets = new TraderIndex(present, ({ wallets }) => wallets);
  // A wallet of several users does not say which of them it is.
  const isOfOne = (wallet: string) =>
    presentWallets.find([wallet]).length === 1 && byWallet.find([wallet]).length === 1;

  pairs.add(present, ({ subjects }) => bySubject.find(subjects.filter(isUserId)));
  pairs.add(present, (one) => byHandle.find([one.handle]).filter((other) => mayBe(one, other)));
  pairs.add(present, ({ records }) => {
    const names = records.flatMap(formerNames).map(normalHandle);
    return [...byHandle.find(names), ...byWallet.find(names)];
  });
  pairs.add(present, ({ wallets }) => byWallet.find(wallets.filter(isOfOne)));
  pairs.add(present, ({ subjects }) => [...byHandle.find(subjects), ...bySubject.find(subjects)]);
  pairs.add(present, ({ handle }) => byHandle.find([handle]));

  const unfound = earlier.filter((trader) => !isFound(trader));
  const unfoundBySubject = new TraderIndex(unfound, ({ subjects }) => subjects);
  pairs.add(now, ({ handle, subjects }) => unfoundBySubject.find([handle, ...subjects]));
  pairs.add(now, ({ subjects }) =>
    [byHandle, bySubject, byWallet].flatMap((index) => index.find(subjects)),
  );
  return pairs.all;
}

/** Whether the wallets do not speak against it: a key may not be shown any. */
const mayBe = (one: ExportedTrader, other: ExportedTrader): boolean =>
  one.wallets.length === 0 ||
  other.wallets.length === 0 ||
  one.wallets.some((wallet) => other.wallets.includes(wallet));

/** Pairs of traders. A trader who has a partner is not paired again. */
class Pairs {
  readonly all = new Map<ExportedTrader, ExportedTrader>();
  readonly #taken = new Set<ExportedTrader>();

  add(
    traders: readonly ExportedTrader[],
    candidates: (trader: ExportedTrader) => readonly ExportedTrader[],
  ): void {
    for (const trader of traders) {
      if (this.all.has(trader)) continue;
      const other = candidates(trader).find((candidate) => !this.#taken.has(candidate));
      if (other === undefined) continue;
      this.all.set(trader, other);
      this.#taken.add(other);
    }
  }
}

/** Traders by some of their names, of which several may be the same. */
class TraderIndex {
  readonly #byName = new Map<string, ExportedTrader[]>();

  constructor(
    traders: readonly ExportedTrader[],
    namesOfTrader: (trader: ExportedTrader) => readonly (string | undefined)[],
  ) {
    for (const trader of traders) {
      for (const name of new Set(namesOfTrader(trader))) {
        if (name !== undefined) addTo(this.#byName, name, trader);
      }
    }
  }

  find(names: readonly (string | undefined)[]): readonly ExportedTrader[] {
    return names.flatMap((name) => this.#byName.get(name ?? '') ?? []);
  }
}
