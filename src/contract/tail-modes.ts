/** What a tail is doing, as its status file, its metrics and `trdr tails` say. */
export const tailModes = [
  'streaming',
  'connecting',
  'polling',
  'store',
  'standby',
  'waiting',
] as const;

export type TailMode = (typeof tailModes)[number];
