import { within } from './amounts.ts';
import type { Kind } from './values.ts';

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DAY_MS = 86_400_000;

/** About 317 years: longer than any useful wait or period. */
const LONGEST_MS = 1e13;

const DURATION_HINT = 'write it as 500ms, 30s, 5m, 2h, 7d or 1h30m';

/** A length of time in milliseconds: `90s`, `1h30m`, `7d`; a number without a unit is seconds. */
export const duration: Kind<number> = {
  name: 'duration',
  noun: 'duration',
  hint: DURATION_HINT,
  read(text) {
    const ms = durationIn(text);
    return ms !== undefined && ms <= LONGEST_MS ? Math.round(ms) : undefined;
  },
};

function durationIn(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    sum += Number(count) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}

/** Writes milliseconds in the format that `duration` parses: `1h30m`. */
export function durationText(ms: number): string {
  let rest = ms;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = unitMs[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text || '0s';
}

export const positiveDuration: Kind<number> = {
  ...duration,
  hint: `${DURATION_HINT}; 0 is not allowed`,
  read: (text) => within(duration.read(text), { min: 1 }),
};

/** The timeout of a request, far below 2^31 ms, the longest delay of a Node timer. */
export const timeout: Kind<number> = {
  ...duration,
  hint: 'write it as 500ms, 30s or 5m; from 1ms to 24h',
  read: (text) => within(duration.read(text), { min: 1, max: DAY_MS }),
};
