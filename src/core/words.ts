/** The longest text of the service that a message repeats. */
const LONGEST = 500;

/** Text of the service as a message may repeat it: it is data, so it is bounded. */
export const bounded = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
