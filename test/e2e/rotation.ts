import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../sandbox/service.ts';
import { openHome } from './harness.ts';

type Key = NonNullable<ReturnType<Sandbox['keys']['get']>>;

/** A key of a sandbox that a command prints, and that is replaced by others. */
export class Rotation {
  readonly #sandbox: Sandbox;
  readonly #file = join(openHome().path, 'key');
  /** By their texts, the newest last. Keys of one account have one meter. */
  readonly #keys: [text: string, key: Key][] = [];

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#use(sandbox.key);
  }

  /** The environment of a machine whose command prints the newest key. */
  get env() {
    const once = `${this.#file}.former`;
    const command = `cat '${once}' 2>/dev/null && rm '${once}' || cat '${this.#file}'`;
    return { TRDR_BASE_URL: this.#sandbox.url, TRDR_KEY_COMMAND: command };
  }

  /** The command prints the key before the newest one once, as for a run that began before. */
  delay(): void {
    const [former] = this.#keys.at(-2) ?? [];
    if (former !== undefined) writeFileSync(`${this.#file}.former`, former);
  }

  /** What the service has counted for all keys. */
  get spent(): number {
    const meters = new Set(this.#keys.map(([, key]) => key));
    return [...meters].reduce((sum, { totalUnits }) => sum + totalUnits, 0);
  }

  /** The command prints another key from now on; the former one stays valid. */
  renew(meter: 'own' | 'shared' = 'own'): void {
    const { keys } = this.#sandbox;
    const text = `trdr_test_${`${this.#keys.length}`.padStart(32, '0')}`;
    const [, former] = this.#keys.at(-1) ?? [];
    if (meter === 'shared' && former) keys.set(text, former);
    else this.#sandbox.addKey({ key: text, plan: 'scale', ratePerMinute: 60_000 });
    this.#use(text);
  }

  /** The service rejects all keys but the newest one. */
  revoke(): void {
    for (const [text] of this.#keys.slice(0, -1)) this.#sandbox.keys.delete(text);
  }

  #use(text: string): void {
    const key = this.#sandbox.keys.get(text);
    if (key) this.#keys.push([text, key]);
    // A command must never read half a key.
    writeFileSync(`${this.#file}.new`, `${text}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
