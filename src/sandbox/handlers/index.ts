import type { EndpointId } from '../../contract/endpoints.ts';
import { accountHandlers } from './account.ts';
import type { EndpointHandlers, HandlerContext } from './context.ts';
import { identityHandlers } from './identity.ts';
import { launchpadHandlers } from './launchpad.ts';
import { numbersHandlers } from './numbers.ts';
import { thesisHandlers } from './theses.ts';

/** Creates a handler for every endpoint. A missing handler is a compile error. */
export const createHandlers = (context: HandlerContext): EndpointHandlers<EndpointId> => ({
  ...identityHandlers(context),
  ...numbersHandlers(context),
  ...thesisHandlers(context),
  ...launchpadHandlers(context),
  ...accountHandlers,
});
