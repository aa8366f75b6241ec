/** In CU. */
export const cu = {
  lookup: 100,
  miss: 200,
  reveal: 30_000,
  thesisBlock: 200,
  launchpad: 10,
  socketMinute: 20_000,
} as const;
