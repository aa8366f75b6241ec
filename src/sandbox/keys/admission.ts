import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Random } from '../random.ts';
import { type Refusal, refusal } from '../server/http/api-error.ts';
import { type Key, type KeyOptions, keyOfHeaders, makeKey } from './key.ts';
import type { Scope } from './plans.ts';
import { slidingWindow, windowsBy } from './rate-window.ts';

type Headers = NodeJS.Dict<string | string[]>;
type Admitted = { readonly key: Key } | { readonly refusal: Refusal };

/** Who may come in, and how often. */
export interface Admission {
  /** A call's key, or why it is turned away. Only `me` asks for no scope and takes keys without allowance. */
  admit(headers: Headers, ip: string, scope: Scope | null): Admitted;
  /** The limit of resolves, which is each address's own. */
  admitResolve(ip: string): Refusal | null;
  add(options: KeyOptions): Key;
  byText(text: string): Key | undefined;
  readonly keys: readonly Key[];
  /** Forgets who called how often, as a restart does. */
  forget(): void;
}

export function createAdmission(burstPerSecond: number, random: Random, now: () => number): Admission {
  const keys: Key[] = [];
  const byText = new Map<string, Key>();
  const makeBursts = () => windowsBy(() => slidingWindow(burstPerSecond, 1_000));
  const makeResolves = () => windowsBy(() => slidingWindow(RESOLVES_PER_MINUTE, 60_000));
  let burstOf = makeBursts();
  let resolvesOf = makeResolves();

  return {
    admit(headers, ip, scope) {
      const burst = burstOf(ip).take(now());
      if (!burst.ok)
        return { refusal: refusal('RATE_LIMITED', 'Too many at once from here.', burst.retryAfter) };
      const key = byText.get(keyOfHeaders(headers) ?? '');
      if (!key) return { refusal: refusal('UNAUTHORIZED') };
      const turn = key.window.take(now());
      if (!turn.ok) return { refusal: refusal('RATE_LIMITED', undefined, turn.retryAfter) };
      if (scope && !key.scopes.has(scope)) {
        return { refusal: refusal('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`) };
      }
      if (scope && key.meter.empty) return { refusal: refusal('FREE_TIER_DISABLED') };
      return { key };
    },
    admitResolve(ip) {
      const turn = resolvesOf(ip).take(now());
      return turn.ok ? null : refusal('RATE_LIMITED', 'Ten resolves a minute.', turn.retryAfter);
    },
    add(options) {
      const key = makeKey(options, keys.length + 1, random, now);
      keys.push(key);
      byText.set(key.text, key);
      return key;
    },
    byText: (text) => byText.get(text),
    keys,
    forget() {
      burstOf = makeBursts();
      resolvesOf = makeResolves();
      for (const key of keys) key.window.clear();
    },
  };
}
