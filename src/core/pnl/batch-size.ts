import { Failure } from '../../base/failure.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { Allowance } from './allowance.ts';
import { isRejected } from './request-batch.ts';

export async function affordable(
  allowance: Allowance,
  wanted: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  await allowance.ready(signal);
  if (allowance.room().handles < wanted && !allowance.fresh) await allowance.refresh(signal);
  const { handles } = allowance.room();
  if (handles < 1) throw allowance.shortage();
  return Math.min(wanted, handles);
}

/** After an error that a smaller batch may avoid. Throws all other errors. */
export async function smallerBatch(
  allowance: Allowance,
  error: unknown,
  size: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (isRejected(error)) return Math.ceil(size / 2);
  if (!(error instanceof Failure) || error.kind !== 'quota') throw error;
  await allowance.refresh(signal);
  if (error.code === 'REVEAL_LIMIT_REACHED') allowance.countWallets();
  const { handles } = allowance.room();
  if (size === 1) throw handles < 1 ? allowance.shortage() : error;
  // The allowance covers the rejected batch, so the service counts reveals differently: try half.
  return handles < size ? BATCH_MAX : Math.floor(size / 2);
}
