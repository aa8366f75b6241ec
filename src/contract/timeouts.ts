/**
 * The default timeouts of a request. The timeout of a resolve is longer, because a live search takes time.
 */
export const TIMEOUT_SECONDS = 30;
export const RESOLVE_TIMEOUT_SECONDS = 60;
export const timeoutText = `${TIMEOUT_SECONDS}s; resolve ${RESOLVE_TIMEOUT_SECONDS}s`;
