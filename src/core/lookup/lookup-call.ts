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

export const endpointOf = (type: NameType): UserEndpoint => `user.${type}`;
const paramOf = { handle: 'handle', wallet: 'address', id: 'id' } as const;

/** The call for a name. */
export function callOf({ type, value }: AskedName): UserCall {
  return {
    id: endpointOf(type),
    ask: { params: { [paramOf[type]]: value } } as RequestParts<UserEndpoint>,
  };
}
