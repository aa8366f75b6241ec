import type { UserEndpoint } from '../../contract/ports/answers.ts';
import type { Name, NameType } from '../../contract/ports/book.ts';
import type { RequestParts } from '../../contract/ports/client.ts';

/** A name as it is sent to the service, and as the book has it. */
export interface AskedName extends Name {
  readonly value: string;
}

/** A lookup of a user by one of their names. */
interface UserCall {
  readonly id: UserEndpoint;
  readonly ask: RequestParts<UserEndpoint>;
}

const endpoints = { handle: 'user.handle', wallet: 'user.wallet', id: 'user.id' } as const;
export const endpointOf = (type: NameType): UserEndpoint => endpoints[type];
const paramOf = { handle: 'handle', wallet: 'address', id: 'id' } as const;

/** The call for a name. */
export function callOf({ type, value }: AskedName): UserCall {
  return {
    id: endpointOf(type),
    ask: { params: { [paramOf[type]]: value } } as RequestParts<UserEndpoint>,
  };
}

/**
 * The call for a name whose answer is kept: it is not sent, but a dry run has a row for it. It is
 * written out, because a copy of the call would take V8 longer than the rest of its plan.
 */
export const keptCallOf = (name: AskedName) => ({
  id: endpointOf(name.type),
  ask: callOf(name).ask,
  times: 0,
  least: 0,
  most: 0,
});
