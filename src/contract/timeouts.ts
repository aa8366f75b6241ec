/**
 * The default timeouts of a request. The timeout of a resolve is longer, because a live search takes time.
 */
export const TIMEOUT_SECONDS = 30;
export const RESOLVE_TIMEOUT_SECONDS = 60;
/**
 * How many times its timeout a request may take in all. The timeout applies to the start of the response and
 * to each pause in it: a response that keeps arriving was paid for, so it is read to its end.
 */
export const LONGEST_RESPONSE = 4;
export const timeoutText = `${TIMEOUT_SECONDS}s; resolve ${RESOLVE_TIMEOUT_SECONDS}s`;
