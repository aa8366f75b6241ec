import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isWithin } from '../../contract/answer-age.ts';
import type { AnswerCache, CachedAnswer } from '../../contract/ports/answers.ts';
import type { Client } from '../../contract/ports/client.ts';
import { recognize } from '../../contract/record-types.ts';
import { answerOf, askTogether, type HeldAnswer, heldAnswer, type LookupAnswer } from './lookup.ts';
import type { AskedName } from './lookup-call.ts';

interface AccountSources {
  readonly client: Pick<Client, 'call'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly answers?: AnswerCache | undefined;
}

/** The launchpad accounts of wallets: clues to the owners of the wallets. */
export class LaunchpadAccounts {
  readonly #sources: AccountSources;
  readonly #maxAgeMs: number;
  #isDenied = false;

  constructor(sources: AccountSources, maxAgeMs: number) {
    this.#sources = sources;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * The launchpad account of a wallet. A plan without access to the launchpad counts as "no
   * account".
   */
  async find(wallet: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { answers, clock } = this.#sources;
    const cached = this.cached(wallet.normal);
    if (cached) return cached;
    if (this.#isDenied) return heldAnswer(null, clock.now(), 'cache');
    const wanted = {
      endpoint: 'launchpad.user',
      subject: wallet.normal,
      maxAgeMs: this.#maxAgeMs,
      missAgeMs: this.#maxAgeMs,
    } as const;
    const claim = await answers?.claim?.(wanted, signal);
    const request = () => this.#request(wallet, signal);
    return await askTogether(claim, () => this.cached(wallet.normal), request);
  }

  async #request(wallet: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { client, clock } = this.#sources;
    try {
      const ask = { params: { wallet: wallet.value } };
      const { record } = await client.call('launchpad.user', ask, { signal });
      const time = clock.now();
      await this.#save(wallet, { time, status: 200, record });
      return heldAnswer(record, time, 'service');
    } catch (error) {
      const time = clock.now();
      if (error instanceof Failure && error.kind === 'forbidden') {
        this.#isDenied = true;
        return heldAnswer(null, time, 'service');
      }
      const answer = answerOf(error, time);
      if (answer.found === false) {
        await this.#save(wallet, { time, status: 404, record: null });
      }
      return answer;
    }
  }

  async #save({ normal }: AskedName, answer: CachedAnswer): Promise<void> {
    await this.#sources.answers?.put('launchpad.user', new Map([[normal, answer]]));
  }

  /**
   * The launchpad account of a wallet, or that it has none, which is kept for as long: it is a clue
   * to the owner, and no answer.
   */
  cached(wallet: string): HeldAnswer | undefined {
    const saved = this.#sources.answers?.get('launchpad.user', [wallet])[0];
    if (saved === undefined || !isWithin(saved.time, this.#maxAgeMs, this.#sources.clock.now()))
      return undefined;
    const { status, time, record } = saved;
    const account = status === 404 ? null : recognize('launchpadUser', record)?.record;
    return account === undefined ? undefined : heldAnswer(account, time, 'cache');
  }
}
