export const HANDLE_MAX = 64;
export const ADDRESS_MAX = 128;
export const BATCH_MAX = 100;
export const THESIS_LIMIT_MAX = 100;
export const THESIS_LIMIT_DEFAULT = 20;
/** Number of rows in one block of a thesis page; pages are charged per block. */
export const THESIS_BLOCK = 20;
export const CALLOUT_PAGE = 25;
export const BOARD_SIZE = 100;
export const SOCKET_TOKENS_MAX = 50;
export const SOCKET_PING_SECONDS = 30;
export const RESOLVES_PER_MINUTE = 10;
/**
 * How long a call counts against its rate limit. The service counts calls when they arrive and trdr when they
 * leave. The additional second covers network delays: otherwise a delayed call, and a fast one that was sent
 * a minute later, could arrive within the same minute.
 */
export const RATE_WINDOW_MS = 61_000;

/**
 * What each plan grants; `live` is access to the live feed. Explore grants its `monthlyUnits` only once.
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

/** The lowest per-minute limit of all plans. It applies if the limit of the key cannot be fetched. */
export const LEAST_RATE_PER_MINUTE = plans.explore.ratePerMinute;

/**
 * The default timeouts of a request. The timeout of a resolve is longer, because a live search takes time.
 */
export const TIMEOUT_SECONDS = 30;
export const RESOLVE_TIMEOUT_SECONDS = 60;
/**
 * The whole request may take this many times its timeout, because a response that keeps arriving may have been
 * paid for. The timeout itself limits the wait for the start of the response and each later pause.
 */
export const LONGEST_RESPONSE = 4;
export const timeoutText = `${TIMEOUT_SECONDS}s; resolve ${RESOLVE_TIMEOUT_SECONDS}s`;
