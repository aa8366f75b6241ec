import { describe, expect, it } from 'vitest';
import type { FailureFacts } from '../../src/base/failure-facts.ts';
import { everyCommonOption } from '../../src/cli/args/common.ts';
import { allCommands } from '../../src/cli/docs/help.ts';
import { checkHintOf, hintOf } from '../../src/cli/failure-hint.ts';
import { hintWords, plainHints } from '../../src/cli/hint-words.ts';

const commands = await allCommands();
const paths = new Set(commands.map(({ path }) => path));
const flags = new Set(
  [everyCommonOption, ...commands.map(({ options }) => options)]
    .flatMap((options) => Object.values(options))
    .flatMap((option) => option.flags.match(/--[a-z][\w-]*/g) ?? []),
);

const detailed: readonly (readonly [facts: FailureFacts, hint: string])[] = [
  [{ about: 'checkable', advice: 'check it' }, 'check it: trdr doctor'],
  [
    { about: 'profile', name: 'dsk', names: [] },
    'no profiles are saved yet: run "trdr auth login"',
  ],
  [
    { about: 'profile', name: 'dsk', names: ['desk', 'lab'] },
    'Did you mean "desk"? available profiles: desk, lab; "trdr auth login --profile NAME" creates another',
  ],
  [
    { about: 'config', path: '/c.json' },
    "fix it by hand, or move it away and log in again: mv '/c.json' '/c.json.broken' && trdr auth login",
  ],
  [
    { about: 'savedSetting', name: 'retries', profile: 'desk' },
    'run "trdr config set retries VALUE --profile desk" or "trdr config unset retries --profile desk"',
  ],
  [
    { about: 'keyFormat', profile: undefined },
    'run "trdr auth login" and paste the key exactly as you received it',
  ],
  [
    { about: 'keyFormat', profile: 'desk' },
    'run "trdr auth login --profile desk" and paste the key exactly as you received it',
  ],
  [
    { about: 'shortenedWallet', mayBeHandle: true },
    'pass the whole wallet: tables show it with --wide, files and pipes always; if this is a handle, write it as @handle',
  ],
  [
    { about: 'unitsLeft', isGrantedOnce: false },
    'top up, or wait for the next UTC month; "trdr me" shows what is left',
  ],
  [
    { about: 'notInAnswer', others: ['mert', 'wolf'] },
    'check with "trdr whois" whether the trader was renamed; the answer contains @mert, @wolf instead',
  ],
  [
    { about: 'notInAnswer', others: [] },
    'request this handle alone with "trdr pnl"; this run does not request it again, because it may have been charged',
  ],
  [
    { about: 'damagedSum', key: 'trdr:1' },
    'remove the key from the store: DEL \'trdr:1\'; then set the budgets again with "trdr budget set"',
  ],
  [
    {
      about: 'lostBudgets',
      budgets: [
        { period: 'day', scope: 'key', name: '', cu: 500 },
        { period: 'month', scope: 'machine', name: 'desk', cu: 900 },
      ],
    },
    'set them again: "trdr budget set day 500" and "trdr budget set month 900 --machine desk"; or drop them: "trdr budget unset day" and "trdr budget unset month --machine desk"',
  ],
  [
    { about: 'paidCallsStopped', by: 'setting' },
    'run "trdr store check" to see why the store is unavailable; the setting storeAway=stop stops paid calls without the store',
  ],
  [
    { about: 'storeAway', problem: undefined, otherScheme: 'rediss' },
    'run "trdr store check" to see whether the store is running and reachable; if the server requires TLS, write rediss://; set TRDR_STORE=off to run without the store',
  ],
  [
    { about: 'storeAway', problem: 'otherAuthority', otherScheme: undefined },
    'set the right certificate file: trdr config set storeCa FILE, or TRDR_STORE_CA; set TRDR_STORE=off to run without the store',
  ],
];

it.each(detailed)('words the details of %j', (facts, hint) => {
  expect(hintOf({ hint: facts })).toBe(hint);
});

describe('a hint', () => {
  const plain = Object.entries(plainHints).map(([about, words]) => [about, words] as const);
  const worded = detailed.map(([facts]) => [JSON.stringify(facts), hintWords(facts)] as const);

  it.each([...plain, ...worded])('about %s names commands and flags that exist', (_, words) => {
    const text = typeof words === 'object' ? `${words.hint}\n${words.checkHint}` : words;
    const mentions = text.matchAll(/(?:"|: |&& )trdr ([a-z]+)(?: ([a-z]+))?/g);
    for (const [mention, first = '', second = ''] of mentions)
      expect(paths.has(first) || paths.has(`${first} ${second}`), mention).toBe(true);
    for (const [flag] of text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)) expect(flags).toContain(flag);
  });

  it('is the same in a check, unless it sends the user to that check', () => {
    for (const hint of ['use https', { about: 'spendingLimit' }] as const)
      expect(checkHintOf({ hint })).toBe(hintOf({ hint }));
    expect(checkHintOf({ hint: { about: 'differentService' } })).toBe(
      'see below how the service differs from its description',
    );
  });
});
