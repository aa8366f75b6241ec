// Limits and prices from the service description.

export const HANDLE_MAX = 64;
export const ADDRESS_MAX = 128;
export const BATCH_MAX = 100;
export const THESIS_LIMIT_MAX = 100;
export const THESIS_LIMIT_DEFAULT = 20;
/** The rows of one block; pages are charged per block. */
export const THESIS_BLOCK = 20;
export const thesisBlocks = (rows: number = THESIS_LIMIT_DEFAULT) => Math.ceil(rows / THESIS_BLOCK);
export const CALLOUT_PAGE = 25;
export const BOARD_SIZE = 100;
export const SOCKET_TOKENS_MAX = 50;
export const SOCKET_PING_SECONDS = 30;
export const RESOLVES_PER_MINUTE = 10;
/**
 * How long a call counts against its rate limit. The service counts calls when they arrive and trdr
 * when they leave. The additional second covers network delays: without it, a delayed call and a
 * fast one sent a minute later could arrive within the same minute.
 */
export const RATE_WINDOW_MS = 61_000;

/**
 * What each plan grants; `live` is access to the live feed. Explore grants its units only once.
 * Enterprise is missing, because its numbers are set per contract.
 */
export const plans = {
  explore: { title: 'Explore', ratePerMinute: 60, monthlyUnits: 25_000, live: false },
  starter: { title: 'Starter', ratePerMinute: 150, monthlyUnits: 1_000_000, live: false },
  builder: { title: 'Builder', ratePerMinute: 300, monthlyUnits: 5_000_000, live: false },
  growth: { title: 'Growth', ratePerMinute: 600, monthlyUnits: 20_000_000, live: true },
  scale: { title: 'Scale', ratePerMinute: 1_200, monthlyUnits: 75_000_000, live: true },
} as const;

export type PlanName = keyof typeof plans;

/** Whether a plan is one of those that certainly have no live feed. */
export const isWithoutLiveFeed = (plan: string | null): boolean =>
  Object.entries(plans).some(([name, { live }]) => !live && name === plan?.toLowerCase());

/** The plan whose units never renew. */
export const PLAN_GRANTED_ONCE: PlanName = 'explore';

/** The lowest limit of all plans, which applies if the limit of the key cannot be fetched. */
export const LEAST_RATE_PER_MINUTE = plans.explore.ratePerMinute;

/** The default timeouts. A resolve takes longer, because of its live search. */
export const TIMEOUT_SECONDS = 30;
export const RESOLVE_TIMEOUT_SECONDS = 60;
/**
 * How many times its timeout a whole request may take. The timeout itself limits the wait for the
 * response to begin and each later pause: a response that keeps arriving may have been paid for, so
 * it is read to its end.
 */
export const LONGEST_RESPONSE = 4;
export const timeoutText = `${TIMEOUT_SECONDS}s; resolve ${RESOLVE_TIMEOUT_SECONDS}s`;

/** How often a call is sent again after failures that may pass. */
export const RETRIES = 4;

/** Prices in CU. */
export const cu = {
  lookup: 100,
  miss: 200,
  reveal: 30_000,
  thesisBlock: 200,
  launchpad: 10,
  socketMinute: 20_000,
} as const;
