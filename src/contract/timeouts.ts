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
