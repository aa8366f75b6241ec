import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Context } from '../run/context.ts';

const UNSURE_MS = 1_000;

/**
 * How far this machine is ahead, in ms. The service may have written its header at any time since
 * the request.
 */
export function clockLead(
  date: string | undefined,
  askedAt: number,
  answeredAt: number,
): number | undefined {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return undefined;
  const earliest = askedAt - UNSURE_MS;
  const latest = answeredAt + UNSURE_MS;
  if (theirs < earliest) return earliest - theirs;
  return theirs > latest ? latest - theirs : 0;
}

/**
 * Ages such as 2h count by the service's clock, because this machine's may be hours off. Requests
 * `me`, which is free.
 */
export async function serviceClock({
  terminal,
  service,
}: Pick<Context, 'terminal' | 'service'>): Promise<Clock> {
  const { io, signal } = terminal;
  const { clock } = io;
  const client = await service.client();
  const askedAt = clock.now();
  try {
    const { headers } = await client.call('me', {}, { signal, optional: true });
    const lead = clockLead(headers['date'], askedAt, clock.now()) ?? 0;
    return { ...clock, now: () => clock.now() - lead };
  } catch (error) {
    // A rejected key fails here as it would in the next call.
    if (!(error instanceof Failure) || error.kind === 'auth') throw error;
    terminal.notice(
      `cannot read the clock of the service, so times count from this machine's: ${error.message}`,
    );
    return clock;
  }
}
