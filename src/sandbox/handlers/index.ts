import type { EndpointId } from '../../contract/endpoints.ts';
import { accountRoutes } from './account.ts';
import { identityRoutes } from './identity.ts';
import { launchpadRoutes } from './launchpad.ts';
import { numbersRoutes } from './numbers.ts';
import type { Routes, Service } from './service.ts';
import { thesisRoutes } from './theses.ts';

/** Every endpoint of the table, answered; one without a handler does not compile. */
export const routesOf = (service: Service): Routes<EndpointId> => ({
  ...identityRoutes(service),
  ...numbersRoutes(service),
  ...thesisRoutes(service),
  ...launchpadRoutes(service),
  ...accountRoutes,
});
