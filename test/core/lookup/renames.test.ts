import { expect, test } from 'vitest';
import type { KnownName, Person, Sighting } from '../../../src/contract/ports/book.ts';
import { followRenames } from '../../../src/core/lookup/renames.ts';

const DEUCE = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const OTHER = '1b4e28ba-2fa1-41d2-883f-0016d3cca427';
const subject = { text: '@trader2', type: 'handle', value: 'trader2', normal: 'trader2' } as const;

const person = (id: string | undefined, handle: string, more: Partial<Person> = {}): Person => ({
  id,
  identity: { handle },
  readAt: 10,
  record: { id, handle },
  was: [],
  handleSince: 5,
  ...more,
});
const seen = (one: Person, to = 1): Sighting => ({ person: one, from: 1, to });
const entry = (...people: Sighting[]): KnownName => ({ people });

const deuce = person(DEUCE, 'Deuce');
const renamed = { handle: 'trader2', id: DEUCE, now: 'Deuce', since: 5 };
const byPost = person(DEUCE, 'trader2', { later: { handle: 'deuce', at: 20 } });
const numbers = person(undefined, 'trader2');
const reused = { handle: 'trader2', before: DEUCE, now: OTHER, seen: 1 };

test.each<[string, KnownName | undefined, object]>([
  ['the book does not have', undefined, {}],
  ['its user still has', entry(seen(person(DEUCE, 'Trader2'))), {}],
  ['its user has changed', entry(seen(deuce)), { renamed }],
  [
    'posts say that its user has changed',
    entry(seen(byPost)),
    { renamed: { ...renamed, now: 'deuce', since: 20 } },
  ],
  ['another user has now', entry(seen(person(OTHER, 'trader2'), 9), seen(deuce)), { reused }],
  [
    'the user has again',
    entry(seen(person(DEUCE, 'trader2'), 9), seen(person(OTHER, 'x'))),
    { reused: { ...reused, before: OTHER, now: DEUCE } },
  ],
  ['somebody has whose numbers were read since', entry(seen(numbers, 9), seen(deuce)), {}],
  ['its user had when its numbers were read', entry(seen(numbers, 4), seen(deuce)), { renamed }],
  [
    'the service answers with somebody else since',
    { ...entry(seen(deuce)), answered: { at: 6, person: person(OTHER, 'trader_two') } },
    {},
  ],
  ['a user has whose id is invalid', entry(seen(person('x', 'deuce'))), {}],
  ['a user has who has only wallets', entry(seen({ ...deuce, identity: { handle: null } })), {}],
])('an old handle stands for its user: one that %s', (_, known, expected) => {
  const news = followRenames([subject], [known]);
  const { renamed: [user] = [], reused: [reuse] = [] } = news;
  expect({ ...(user && { renamed: user }), ...(reuse && { reused: reuse }) }).toEqual(expected);
  expect(news.subjects).toEqual([
    user ? { text: '@trader2', type: 'id', value: DEUCE, normal: DEUCE } : subject,
  ]);
});

test('a user id is not followed', () => {
  const id = { text: DEUCE, type: 'id', value: DEUCE, normal: DEUCE } as const;
  expect(followRenames([id], [entry(seen(deuce))]).subjects).toEqual([id]);
});
