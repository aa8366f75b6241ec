import { normalHandle } from '../../contract/handles.ts';
import { holdsWallet, type User } from '../../contract/records/user.ts';
import { type Handlers, reject, reply } from '../http/endpoint.ts';
import type { Key } from '../keys/key.ts';
import type { SandboxState } from '../state.ts';
import { isEvmAddress, isSolanaAddress } from '../world/address.ts';

export const identityHandlers: Pick<Handlers, 'user.handle' | 'user.wallet' | 'user.id'> = {
  'user.handle'(sandbox, { params: { handle } }, key) {
    const problem = handleProblem(handle);
    if (problem) return reject('VALIDATION_ERROR', problem);
    return found(sandbox, sandbox.world.users.byHandle(normalHandle(handle)), key);
  },
  'user.wallet'(sandbox, { params: { address } }, key) {
    const problem = addressProblem(address);
    if (problem) return reject('VALIDATION_ERROR', problem);
    return found(sandbox, sandbox.world.users.byWallet(address), key);
  },
  'user.id': (sandbox, { params }, key) => found(sandbox, sandbox.world.users.byId(params.id), key),
};

function found({ world }: SandboxState, user: User | undefined, { terms }: Key) {
  if (!user) return reject('NOT_OBSERVED');
  if (terms.sampleOnly && holdsWallet(user) && !world.users.isSample(user.id)) return reject('FORBIDDEN');
  return reply(user);
}

/** Describes what is wrong with a handle; null if it is valid. */
export function handleProblem(text: string): string | null {
  if (normalHandle(text) === '') return 'handle: must not be empty.';
  return /[\s\p{Cc}]/u.test(text) ? 'handle: must not contain white space or control characters.' : null;
}

function addressProblem(address: string): string | null {
  if (/^0x/i.test(address))
    return isEvmAddress(address) ? null : 'address: an EVM address has 40 hex digits after 0x.';
  if (isSolanaAddress(address)) return null;
  return 'address: must be a Solana address (base58, 32 bytes) or an EVM address (0x and 40 hex digits).';
}
