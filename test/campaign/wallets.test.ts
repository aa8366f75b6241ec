import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { RenamedUser } from '../../src/contract/ports/book.ts';
import { CachedLookup } from '../../src/core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../src/core/lookup/lookup.ts';
import { readSubject } from '../../src/core/lookup/subject.ts';
import { PeopleBook } from '../../src/state/people/book.ts';
import { memoryCache } from '../core/fakes.ts';
import { openFolder } from '../folder.ts';
import { repeats } from '../repeats.ts';
import { runs } from '../state/room.ts';

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Thirty-one leading zero bytes and one other: 32 bytes in base58. */
const WALLETS = [...ALPHABET.slice(1, 7)].map((letter) => `${'1'.repeat(31)}${letter}`);
const HANDLES = ['ann', 'bob', 'cleo', 'dora', 'eve', 'fay'];
const IDS = HANDLES.slice(0, 4).map((_, at) => `00000000-0000-4000-8000-00000000000${at}`);
const MAX_AGE_MS = 3_600_000;

interface User {
  handle: string | null;
  solanaAddress: string | null;
}

/** What the service stated: which record, for which call, when, and for how much. */
interface Statement {
  readonly time: number;
  readonly call: string;
  readonly record: Record<string, unknown> | null;
  readonly price: number;
}

/** A service whose users rename, move, share and hide their wallets, and a judge's list of all that it said. */
class World {
  now = 1_700_000_000_000;
  isRevealing = true;
  isFailing = false;
  readonly users = IDS.map((id, at): User & { id: string } => ({
    id,
    handle: HANDLES[at] ?? null,
    solanaAddress: WALLETS[at] ?? null,
  }));
  /** The names of launchpad accounts, right or wrong, by wallet. */
  readonly names = new Map<string, string>();
  readonly said: Statement[] = [];
  /** The authors of posts that the book has seen, and the numbers, which have no id. */
  readonly seen: { readonly time: number; readonly id?: string; readonly handle: string }[] = [];
  /** Who has had each handle, the latest last, and since when. */
  readonly bearers: { readonly handle: string; readonly id: string; readonly from: number }[] =
    this.users.map(({ id, handle }) => ({ handle: handle ?? '', id, from: 0 }));

  /** A handle has one user: the one who had it swaps. */
  rename(at: number, handle: string): void {
    const user = this.users[at];
    if (!user || user.handle === handle) return;
    const holder = this.users.find((other) => other.handle === handle);
    if (holder) holder.handle = user.handle;
    user.handle = handle;
    for (const { id, handle } of [user, ...(holder ? [holder] : [])])
      this.bearers.push({ handle: handle ?? '', id, from: this.now });
  }

  call(id: string, ask: { params: Record<string, string> }) {
    const value = Object.values(ask.params)[0] ?? '';
    if (this.isFailing)
      throw new Failure('service', 'down', { code: 'INTERNAL_ERROR', status: 500 });
    const record = id === 'launchpad.user' ? this.#account(value) : this.#user(id, value);
    this.said.push({ time: this.now, call: `${id} ${value}`, record, price: priceOf(id, record) });
    if (record === null)
      throw new Failure('missing', 'not found', { code: 'NOT_OBSERVED', status: 404 });
    return { record };
  }

  #account(wallet: string) {
    const name = this.names.get(wallet);
    return name === undefined ? null : { wallet, xUsername: name, username: null };
  }

  #user(id: string, value: string) {
    const user = this.users.find(({ id: own, handle, solanaAddress }) => {
      if (id === 'user.id') return own === value;
      return id === 'user.handle' ? handle === value.toLowerCase() : solanaAddress === value;
    });
    if (!user) return null;
    // A plan that reveals nothing hides wallets, except in the answer to the wallet itself.
    const isHidden = !this.isRevealing && id !== 'user.wallet';
    return { ...user, solanaAddress: isHidden ? null : user.solanaAddress, evmAddress: null };
  }
}

function priceOf(id: string, record: object | null): number {
  if (id === 'launchpad.user') return 10;
  if (record === null) return 200;
  return id === 'user.wallet' ? 30_000 : 100;
}

const place = fc.nat({ max: 3 });
const name = fc.nat({ max: 5 });
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wallet'), at: fc.nat({ max: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('handle', 'numbers'), at: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('id'), at: place }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('move'), at: place, to: fc.nat({ max: 6 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('rename'), at: place, to: name }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('post'), at: place, to: fc.nat({ max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('name'),
      at: fc.nat({ max: 5 }),
      to: fc.nat({ max: 6 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), at: fc.nat({ max: 90 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('reveal', 'fail', 'restart'),
      at: fc.nat({ max: 1 }),
    }),
  },
);
type Act = { readonly do: string; readonly at: number; readonly to?: number };

test('every owner of a wallet is one whom the service verified, by no dearer way than the rules allow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 60, size: 'max' }),
      fc.constantFrom('cheapest' as const, 'cheap' as const),
      async (acts: readonly Act[], way) => {
        const world = new World();
        const dir = openFolder();
        const answers = memoryCache();
        const book = new PeopleBook({ dir, baseUrl: 'https://api.test', key: 'k' });
        const renamed: RenamedUser[] = [];
        const open = () =>
          new CachedLookup({
            client: { call: async (id: string, ask: never) => world.call(id, ask) } as never,
            clock: { now: () => world.now },
            book: new PeopleBook({ dir, baseUrl: 'https://api.test', key: 'k' }),
            answers,
            maxAgeMs: MAX_AGE_MS,
            way,
            onRenamed: (users) => void renamed.push(...users),
          });
        let lookup = open();
        for (const one of acts) {
          world.now += 1_000;
          if (one.do === 'wait') world.now += one.at * 60_000;
          else if (one.do === 'restart') lookup = open();
          else if (one.do === 'reveal') world.isRevealing = one.at === 1;
          else if (one.do === 'fail') world.isFailing = one.at === 1;
          else if (one.do === 'move')
            change(world, one.at, { solanaAddress: WALLETS[one.to ?? 0] ?? null });
          else if (one.do === 'rename') world.rename(one.at, HANDLES[one.to ?? 0] ?? '');
          else if (one.do === 'post') await seePost(world, book, one);
          else if (one.do === 'numbers') await seeNumbers(world, book, HANDLES[one.at] ?? '');
          else if (one.do === 'name')
            world.names.set(WALLETS[one.at] ?? '', HANDLES[one.to ?? 0] ?? 'nobody');
          else {
            renamed.length = 0;
            await look(world, lookup, one, renamed);
          }
          judgeHistory(world, book);
        }
      },
    ),
    runs(repeats('CAMPAIGN_RUNS', 100, 500)),
  );
});

function change(world: World, at: number, fields: Partial<User>): void {
  const user = world.users[at];
  if (user) Object.assign(user, fields);
}

/** A post of some minutes ago, with the handle that its author had then. */
async function seePost(world: World, book: PeopleBook, { at, to = 0 }: Act): Promise<void> {
  const id = IDS[at] ?? '';
  const time = world.now - to * 60_000;
  const handle = world.bearers.filter((one) => one.id === id && one.from <= time).at(-1)?.handle;
  if (!handle) return;
  await book.keep([{ time, id, identity: { handle }, mayBeOld: true }]);
  world.seen.push({ time, id, handle });
}

async function seeNumbers(world: World, book: PeopleBook, handle: string): Promise<void> {
  const user = world.users.find((one) => one.handle === handle);
  if (!user) return;
  const { solanaAddress } = user;
  await book.keep([{ time: world.now, identity: { handle, solanaAddress, evmAddress: null } }]);
  world.seen.push({ time: world.now, handle });
}

/** The latest handle is that of the latest record, and earlier ones were all the user's own. */
function judgeHistory(world: World, book: PeopleBook): void {
  const entries = book.look(IDS.map((normal) => ({ type: 'id', normal })));
  for (const [at, known] of entries.entries()) {
    const person = known?.people[0]?.person;
    if (person === undefined) continue;
    const last = world.said.findLast(({ record }) => record?.['id'] === IDS[at]);
    if (person.readAt !== undefined) expect(person.identity.handle).toBe(last?.record?.['handle']);
    const own = world.bearers.filter(({ id }) => id === IDS[at]);
    for (const { handle } of person.was)
      if (handle) expect(own.map((one) => one.handle)).toContain(handle);
  }
}

/**
 * A handle that was read with a user is answered with that user, or with somebody whom the service
 * has named with it since: the one whom the notice names.
 */
function judgeHandle(
  world: World,
  handle: string,
  answer: LookupAnswer,
  renamed: readonly RenamedUser[],
  calls: readonly Statement[],
): void {
  if (answer.found === null) return;
  const read = world.said.flatMap(({ time, record }) =>
    record?.['handle'] === handle ? { time, id: String(record['id']), handle } : [],
  );
  const seen = [...read, ...world.seen.filter((one) => one.handle === handle)];
  const last = seen.toSorted((one, other) => one.time - other.time).at(-1);
  // Numbers do not state whose they are.
  if (last && last.id === undefined) return;
  if (answer.found === false) {
    expect(last, `${handle} was seen`).toBeUndefined();
    return;
  }
  if (answer.record['handle'] === handle) return;
  expect(answer.record['id']).toBe(last?.id);
  // What was known before is not asked for again by the old handle, unless a post has had it since.
  const before = world.said.slice(0, world.said.length - calls.length);
  const latest = before.findLast(
    ({ time, record }) => record?.['id'] === last?.id && time > (last?.time ?? 0),
  )?.record;
  const isKnown = (latest?.['handle'] ?? handle) !== handle;
  if (isKnown) expect(calls.map(({ call }) => call)).not.toContain(`user.handle ${handle}`);
  expect(renamed).toMatchObject([{ handle, id: last?.id }]);
}

async function look(
  world: World,
  lookup: CachedLookup,
  { do: type, at }: Act,
  renamed: readonly RenamedUser[],
): Promise<void> {
  const text = { wallet: WALLETS[at], handle: `@${HANDLES[at]}`, id: IDS[at] }[type] ?? '';
  const subject = await readSubject(text);
  const before = world.said.length;
  const plan = lookup.plan(subject);
  const answer = await plan.find();
  const calls = world.said.slice(before);
  judgeMoney(
    plan.calls.reduce((sum, { times }) => sum + (times ?? 1), 0),
    calls,
  );
  if (type === 'handle') judgeHandle(world, HANDLES[at] ?? '', answer, renamed, calls);
  if (answer.found !== true) return;
  // The record is one that the service stated at the time that the answer names.
  const proof = world.said.find(
    ({ time, record }) =>
      time === answer.time && JSON.stringify(record) === JSON.stringify(answer.record),
  );
  expect(proof, `${text} at ${answer.time}`).toBeDefined();
  expect(world.now - answer.time).toBeLessThan(MAX_AGE_MS);
  if (type !== 'wallet') return;
  expect(answer.record['solanaAddress']).toBe(text);
  // Nothing that was read of this person later says that they have another wallet.
  const later = world.said.filter(
    ({ time, record }) => time > answer.time && record?.['id'] === answer.record['id'],
  );
  for (const { record } of later) expect([text, null]).toContain(record?.['solanaAddress']);
}

/** At most a call for each step of the way, the dear one last, and none where the plan said none. */
function judgeMoney(planned: number, calls: readonly Statement[]): void {
  expect(calls.length).toBeLessThanOrEqual(planned);
  const dear = calls.findIndex(({ call }) => call.startsWith('user.wallet'));
  expect([-1, calls.length - 1]).toContain(dear);
  const most = 100 * Math.max(0, planned - 4) + 10 + 2 * 200 + 30_000;
  const paid = calls.reduce((sum, { price }) => sum + price, 0);
  expect(paid).toBeLessThanOrEqual(most + 200);
}
