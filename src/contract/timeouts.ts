/** The default timeouts of a request. A resolve has a longer one, because it searches live. */
export const TIMEOUT_SECONDS = 30;
export const RESOLVE_TIMEOUT_SECONDS = 60;
export const timeoutText = `${TIMEOUT_SECONDS}s; resolve ${RESOLVE_TIMEOUT_SECONDS}s`;
