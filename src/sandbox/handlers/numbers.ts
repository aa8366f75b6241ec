import { distinctHandles, normalHandle } from '../../contract/handles.ts';
import type { Pnl } from '../../contract/records/pnl.ts';
import { type Handlers, reject, reply } from '../http/endpoint.ts';
import type { Key } from '../keys/key.ts';
import type { SandboxState } from '../state.ts';
import { handleProblem } from './identity.ts';

export const numbersHandlers: Pick<Handlers, 'user.pnl' | 'users.pnl'> = {
  'user.pnl'(sandbox, { params: { handle } }, key) {
    const problem = handleProblem(handle);
    if (problem) return reject('VALIDATION_ERROR', problem);
    const pnl = sandbox.world.pnl(normalHandle(handle));
    if (!pnl) return reject('NOT_OBSERVED');
    return isHidden(sandbox, pnl, key) ? reject('FORBIDDEN') : reply(pnl);
  },
  'users.pnl'(sandbox, { body }, key) {
    const problem = body.handles.map(handleProblem).find((each) => each !== null);
    if (problem) return reject('VALIDATION_ERROR', problem);
    const entries: Pnl[] = [];
    const missing: string[] = [];
    for (const handle of distinctHandles(body.handles).map(normalHandle)) {
      const pnl = sandbox.world.pnl(handle);
      if (pnl) entries.push(pnl);
      else missing.push(handle);
    }
    if (entries.some((pnl) => isHidden(sandbox, pnl, key))) return reject('FORBIDDEN');
    return reply({ count: entries.length, missing, entries });
  },
};

/** Whether the record contains a wallet that the key may not see. */
function isHidden({ world }: SandboxState, { handle, wallet, evmWallet }: Pnl, { terms }: Key): boolean {
  if (!terms.sampleOnly || (wallet === null && evmWallet === null)) return false;
  return !world.users.isSample(world.users.byHandle(handle)?.id ?? '');
}
