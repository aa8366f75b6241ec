import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { KnownName, Person, PersonFields } from '../../../src/contract/ports/book.ts';
import { keptAnswer, ownersSeen, possibleOwners } from '../../../src/core/lookup/book-answers.ts';
import { heldAnswer, type LookupAnswer } from '../../../src/core/lookup/lookup.ts';
import { findOwner, type OwnerSources, planOwner } from '../../../src/core/lookup/wallet-owner.ts';

const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const OTHER = 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH';
const MIRA = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const SOLWOLF = '1b4e28ba-2fa1-41d2-883f-0016d3cca427';
const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const wallet = { type: 'wallet', value: WALLET, normal: WALLET } as const;

const person = (id: string | undefined, identity: PersonFields, readAt?: number): Person => ({
  id,
  identity,
  readAt,
  record: readAt === undefined ? undefined : { id, ...identity },
  was: [],
});
const seen = (...people: Person[]): KnownName => ({
  people: people.map((one) => ({ person: one, from: NOW, to: NOW })),
});
const found = (record: object): LookupAnswer => ({
  found: true,
  record: record as Record<string, unknown>,
  time: NOW,
  from: 'service',
});
const missing: LookupAnswer = { found: false, code: 'NOT_OBSERVED', time: NOW, from: 'service' };

/** A service with these users by name, and these launchpad accounts; it writes down what it is asked. */
function service(users: Record<string, object>, account: object | null | Failure = null) {
  const asked: string[] = [];
  const tried: string[] = [];
  const sources: OwnerSources = {
    now: () => NOW,
    kept: () => undefined,
    async ask({ type, normal }) {
      asked.push(`${type} ${normal}`);
      const user = users[normal];
      return user instanceof Failure
        ? { found: null, failure: user }
        : user
          ? found(user)
          : missing;
    },
    async account({ normal }) {
      asked.push(`account ${normal === WALLET ? 'of the wallet' : normal}`);
      if (account instanceof Failure) return { found: null, failure: account };
      return account ? found(account) : missing;
    },
    async noteTried(of, name) {
      tried.push(`${of === WALLET ? 'the wallet' : of}: ${name}`);
    },
  };
  return { asked, tried, sources };
}

describe('who is behind a wallet', () => {
  test('a known person is read again by id, and accepted with the wallet', async () => {
    const entry = seen(person(MIRA, { handle: 'mira', solanaAddress: WALLET }, NOW - 2 * HOUR));
    const { asked, sources } = service({ [MIRA]: { id: MIRA, solanaAddress: WALLET } });
    const answer = await findOwner(wallet, entry, sources);
    expect(answer).toMatchObject({ found: true, from: 'book' });
    expect(asked).toEqual([`id ${MIRA}`]);
  });

  test('a link that ended leads on to the launchpad, whose name must have exactly this wallet', async () => {
    const entry = seen(person(MIRA, { handle: 'mira', solanaAddress: WALLET }, NOW - 2 * HOUR));
    const moved = { id: MIRA, handle: 'mira', solanaAddress: OTHER };
    const users = { [MIRA]: moved, sol_wolf: { handle: 'sol_wolf', solanaAddress: WALLET } };
    const { asked, tried, sources } = service(users, { wallet: WALLET, xUsername: 'Sol_Wolf' });
    const answer = await findOwner(wallet, entry, sources);
    expect(answer).toMatchObject({
      found: true,
      from: 'launchpad',
      record: { handle: 'sol_wolf' },
    });
    expect(asked).toEqual([`id ${MIRA}`, 'account of the wallet', 'handle sol_wolf']);
    expect(tried).toEqual([]);
  });

  test('a name of somebody else is refused, noted, and not tried again within the hour', async () => {
    const users = { mira: { handle: 'mira', solanaAddress: OTHER } };
    const { asked, tried, sources } = service(users, { username: 'mira', xUsername: null });
    expect(await findOwner(wallet, undefined, sources)).toBeUndefined();
    expect(tried).toEqual(['the wallet: mira']);
    const entry = { people: [], tried: [{ name: 'mira', at: NOW - HOUR + 1 }] };
    expect(await findOwner(wallet, entry, sources)).toBeUndefined();
    expect(asked.filter((name) => name.startsWith('handle'))).toHaveLength(1);
    await findOwner(wallet, { people: [], tried: [{ name: 'mira', at: NOW - HOUR }] }, sources);
    expect(asked.filter((name) => name.startsWith('handle'))).toHaveLength(2);
  });

  test('the user name is tried after the X name, each once an hour', async () => {
    const users = {
      mira: { handle: 'mira', solanaAddress: OTHER },
      sol_wolf: { handle: 'sol_wolf', solanaAddress: WALLET },
    };
    const account = { username: 'sol_wolf', xUsername: 'Mira' };
    const first = service(users, account);
    expect(await findOwner(wallet, undefined, first.sources)).toMatchObject({
      found: true,
      from: 'launchpad',
      record: { handle: 'sol_wolf' },
    });
    expect(first.asked).toEqual(['account of the wallet', 'handle mira', 'handle sol_wolf']);
    expect(first.tried).toEqual(['the wallet: mira']);
    const again = service(users, account);
    const tried = [{ name: 'mira', at: NOW - 1 }];
    await findOwner(wallet, { people: [], tried }, again.sources);
    expect(again.asked).toEqual(['account of the wallet', 'handle sol_wolf']);
    const same = service(users, { username: '@mira', xUsername: 'Mira' });
    expect(await findOwner(wallet, undefined, same.sources)).toBeUndefined();
    expect(same.asked).toEqual(['account of the wallet', 'handle mira']);
  });

  test('numbers without an id lead to their handle, once', async () => {
    const entry = seen(
      person(undefined, { handle: 'mira', solanaAddress: WALLET }),
      person(MIRA, { handle: 'Mira', solanaAddress: WALLET }, NOW - 2 * HOUR),
    );
    const { asked, sources } = service({ [MIRA]: { id: MIRA, handle: 'mira', evmAddress: '0x1' } });
    await findOwner(wallet, entry, sources);
    expect(asked).toEqual([`id ${MIRA}`, 'account of the wallet']);
    const onlyNumbers = seen(person(undefined, { handle: 'mira', solanaAddress: WALLET }));
    const other = service({ mira: { handle: 'mira', solanaAddress: WALLET } });
    expect(await findOwner(wallet, onlyNumbers, other.sources)).toMatchObject({ found: true });
    expect(other.asked).toEqual(['handle mira']);
  });

  test('a record without any wallet proves no end of the link', async () => {
    const revealed = person(MIRA, { handle: 'mira', solanaAddress: WALLET }, NOW - 2 * HOUR);
    const { asked, sources } = service({ [MIRA]: { id: MIRA, solanaAddress: null } });
    expect(await findOwner(wallet, seen(revealed), sources)).toBeUndefined();
    expect(asked).toEqual([`id ${MIRA}`, 'account of the wallet']);
  });

  test('a failure ends the search, because the dear call is not its repair', async () => {
    const failure = new Failure('service', 'down', { code: 'INTERNAL_ERROR' });
    const entry = seen(person(MIRA, { handle: 'mira', solanaAddress: WALLET }, NOW - 2 * HOUR));
    const users: Record<string, object> = { [MIRA]: failure };
    expect(await findOwner(wallet, entry, service(users).sources)).toEqual({
      found: null,
      failure,
    });
    const away = service({}, failure);
    expect(await findOwner(wallet, undefined, away.sources)).toEqual({ found: null, failure });
  });

  test.each(['a key', '', ' ', '../../v2/me', 'mi ra', 'x'.repeat(65), 'mi\u202era'])(
    'a launchpad name that cannot be a handle is not looked up: %j',
    async (xUsername) => {
      const { asked, sources } = service({}, { wallet: WALLET, xUsername });
      expect(await findOwner(wallet, undefined, sources)).toBeUndefined();
      expect(asked).toEqual(['account of the wallet']);
    },
  );
});

describe('what is planned for a wallet', () => {
  const planned = (
    ...words: Parameters<typeof planOwner> extends [unknown, ...infer Rest] ? Rest : never
  ) => planOwner(wallet, ...words).map(({ id, isSure, least }) => [id, isSure, least]);

  const none = heldAnswer(null, NOW, 'cache');

  test('an unknown wallet costs at least its account and one handle', () => {
    expect(planned(undefined, undefined, 'cheapest')).toEqual([
      ['launchpad.user', true, undefined],
      ['user.handle', false, 100],
      ['user.wallet', false, undefined],
    ]);
    expect(planned(undefined, none, 'cheapest')).toEqual([['user.wallet', true, undefined]]);
    expect(planned(undefined, none, 'cheap')).toEqual([]);
    // An account without a name costs no more than itself, unless the dear call follows.
    expect(planned(undefined, undefined, 'cheap')).toEqual([
      ['launchpad.user', true, undefined],
      ['user.handle', false, undefined],
    ]);
  });

  test('a known wallet costs at least the person, and at most every step', () => {
    const entry = seen(person(MIRA, { solanaAddress: WALLET }, NOW - 2 * HOUR));
    expect(planned(entry, undefined, 'cheapest')).toEqual([
      ['user.id', true, undefined],
      ['launchpad.user', false, undefined],
      ['user.handle', false, undefined],
      ['user.wallet', false, undefined],
    ]);
  });
});

describe('what the book answers without a call', () => {
  const isFresh = ({ time }: { readonly time: number }) => NOW - time < HOUR;

  test('the user whom the service named itself comes before others with the wallet', () => {
    const mira = person(MIRA, { solanaAddress: WALLET }, NOW - 2);
    const solwolf = person(SOLWOLF, { solanaAddress: WALLET }, NOW - 1);
    const entry = { ...seen(solwolf, mira), answered: { at: NOW - 2, person: mira } };
    expect(keptAnswer(wallet, entry, isFresh)).toMatchObject({
      from: 'cache',
      record: { id: MIRA },
    });
    expect(keptAnswer(wallet, seen(solwolf, mira), isFresh)).toMatchObject({
      from: 'book',
      record: { id: SOLWOLF },
    });
    expect(ownersSeen(WALLET, entry)).toBe(2);
  });

  test('a link that ended is never an answer, and its person never a possible owner', () => {
    const moved = person(MIRA, { handle: 'mira', solanaAddress: OTHER }, NOW - 1);
    const entry = { ...seen(moved), answered: { at: NOW - 2, person: moved } };
    expect(keptAnswer(wallet, entry, isFresh)).toBeUndefined();
    expect(possibleOwners(WALLET, entry)).toEqual([]);
  });

  test('a miss counts until somebody is seen under the name', () => {
    const miss = { at: NOW, person: null };
    expect(keptAnswer(wallet, { people: [], answered: miss }, isFresh)?.found).toBe(false);
    const mira = person(MIRA, { solanaAddress: WALLET }, NOW + 1);
    const entry = { people: [{ person: mira, from: NOW + 1, to: NOW + 1 }], answered: miss };
    expect(keptAnswer(wallet, entry, isFresh)).toMatchObject({ record: { id: MIRA } });
  });
});
