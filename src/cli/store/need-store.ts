import { Failure } from '../../base/failure.ts';
import type { Context } from '../context.ts';
import type { RunStore } from './open-store.ts';

/** The store of the run, for commands that require one. */
export async function needStore(context: Context): Promise<RunStore> {
  const store = await context.store();
  if (store !== undefined) return store;
  const [message, hint] = context.globals.sandbox
    ? ['the embedded service has no store', 'remove --sandbox']
    : ['no store configured', 'run "trdr store login URL", or set TRDR_STORE'];
  throw new Failure('usage', message, { code: 'NO_STORE', hint });
}
