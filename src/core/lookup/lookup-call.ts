import type { UserEndpoint } from '../../contract/ports/answers.ts';
import type { RequestParts } from '../../contract/ports/client.ts';

/** A lookup of a user by one of their names. */
export interface UserCall {
  readonly id: UserEndpoint;
  readonly ask: RequestParts<UserEndpoint>;
}

/** A call that a lookup will make, or may make if `isSure` is false. */
export interface LookupCall {
  readonly id: UserEndpoint | 'launchpad.user';
  readonly ask: RequestParts<UserEndpoint | 'launchpad.user'>;
  readonly isSure: boolean;
  /** How many such calls there may be. Default: 1. */
  readonly times?: number;
  /** The least cost, where the way as a whole costs more than a call that may not be made. */
  readonly least?: number;
  /** What the parameters stand for, where the real ones are not known before the run. */
  readonly standsFor?: string | undefined;
}
