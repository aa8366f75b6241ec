import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import { keyFacts } from '../../tail/source.ts';
import { planSpend } from '../../tail/spend/stream-or-poll.ts';
import { timing } from '../../tail/timing.ts';
import type { Context } from '../run/context.ts';
import type { TailFlags } from './flags.ts';

const TIMEOUT_MS = 5_000;

/**
 * How often a tail with `--via auto` will poll in place of streaming, by what its key, budgets and
 * limit allow; undefined if it streams. The free `me` is asked for what a dry run states, and for
 * what a person confirms; without its answer, the dearer way is stated.
 */
export async function pollInstead(
  { terminal, settings, service }: Context,
  { lag, duration }: Pick<TailFlags, 'lag' | 'duration'>,
  cheapest: boolean,
): Promise<number | undefined> {
  const { flags, maxCu, socketShare } = settings;
  const isStated = (flags.dryRun && !flags.curl) || duration !== undefined;
  if (!isStated || service.scope === undefined) return undefined;
  const { clock } = terminal.io;
  try {
    const client = await service.client();
    const ask = keyFacts(client, await service.ledger(), clock.now);
    const facts = await ask(AbortSignal.any([terminal.signal, AbortSignal.timeout(TIMEOUT_MS)]));
    const { key, budgets } = client.left;
    const units = key?.units ?? null;
    const { why, pollMs } = planSpend({
      via: 'auto',
      cheapest,
      hasSocket: true,
      lagMs: lag,
      ...facts,
      rate: 0,
      step: THESIS_BLOCK,
      stepCu: cu.thesisBlock,
      auditMs: timing.auditMs,
      latenessMs: timing.latenessMs,
      limitLeft: maxCu ?? null,
      allowanceLeft: units,
      budgets,
      reserved: 0,
      shareLeft: units === null ? null : units * socketShare,
      shortSessions: 0,
      now: clock.now(),
      runLeftMs: duration ?? Number.POSITIVE_INFINITY,
      sincePollMs: 0,
    });
    return why === undefined ? undefined : pollMs;
  } catch {
    terminal.signal.throwIfAborted();
    return undefined;
  }
}
