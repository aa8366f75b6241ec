import { withoutKey } from './mask-key.ts';

/** Where a run gets another key from: the command that printed the first one. */
export interface KeyRenewal {
  readonly print: () => Promise<string | undefined>;
  /**
   * Hands what belongs to the rejected key to the next one. No call is sent with the next one
   * before.
   */
  readonly handOver: (rejected: string, next: string) => Promise<void>;
  readonly onFailed: (error: unknown) => void;
}

/**
 * The key of a run. After the service has rejected it, a command may print another one, because
 * keys are rotated during long runs.
 */
export class ServiceKey {
  #current: string;
  /** Answers may repeat an earlier key, so all of them are masked. */
  readonly #used = new Set<string>();
  readonly #renewal: KeyRenewal | undefined;
  /**
   * The command runs once for each rejected key, in however many calls it was rejected, and once
   * for those answers that may be from a proxy.
   */
  readonly #renewals = new Map<string, Promise<void>>();

  constructor(first: string, renewal?: KeyRenewal) {
    this.#current = first;
    this.#used.add(first);
    this.#renewal = renewal;
  }

  get current(): string {
    return this.#current;
  }

  mask(text: string): string {
    let masked = text;
    for (const key of this.#used) masked = withoutKey(masked, key);
    return masked;
  }

  /** Whether there is another key than the one that the service, if `isOwn`, rejected. */
  async replace(rejected: string, isOwn: boolean): Promise<boolean> {
    if (this.#current === rejected && this.#renewal) {
      const rejection = `${isOwn} ${rejected}`;
      const running = this.#renewals.get(rejection) ?? this.#renew(this.#renewal);
      this.#renewals.set(rejection, running);
      await running;
    }
    return this.#current !== rejected;
  }

  async #renew({ print, handOver, onFailed }: KeyRenewal): Promise<void> {
    try {
      const next = await print();
      if (next === undefined || next === this.#current) return;
      this.#used.add(next);
      await handOver(this.#current, next);
      this.#current = next;
    } catch (error) {
      // The rejection of the key is what the run reports.
      onFailed(error);
    }
  }
}
