/** What a setting may be in the config file: plain JSON. */
export type Plain = string | number | boolean;

/** How a setting is read from text or from the config file, and what it is called in messages. */
export interface Reading<T> {
  /** What is expected, as a message ends: `write it as ...`. */
  readonly form: string;
  readonly choices?: readonly string[];
  /** The value, or undefined where it is none. */
  readonly read: (given: Plain) => T | undefined;
  /** What is kept in the file: what the user wrote, unless the value itself reads better. */
  readonly keep: (given: string) => Plain;
}

const asText = (given: Plain) => (typeof given === 'string' ? given.trim() : String(given));

export function choice<const C extends readonly string[]>(...choices: C): Reading<C[number]> {
  const isChoice = (text: string): text is C[number] => choices.includes(text);
  return {
    form: choices.join(', '),
    choices,
    read(given) {
      const text = asText(given);
      return isChoice(text) ? text : undefined;
    },
    keep: asText,
  };
}

export const flag: Reading<boolean> = {
  form: 'true or false',
  choices: ['true', 'false'],
  read: (given) => ({ true: true, false: false })[asText(given)],
  keep: (given) => asText(given) === 'true',
};

/** A whole number within bounds; `30_000`, `30k` and `2.5M` are numbers too. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Reading<number> {
  const read = (given: Plain) => {
    const [, digits, factor = ''] = /^(\d[\d_,]*(?:\.\d+)?)([kKmM])?$/.exec(asText(given)) ?? [];
    if (digits === undefined) return undefined;
    const plain = digits.replace(/[_,]/g, '');
    const times = { k: 1e3, m: 1e6 }[factor.toLowerCase()] ?? 1;
    const product = Number(plain) * times;
    // `1.001` thousand is 1001, which a product of binary fractions is not.
    const exact = (plain.split('.')[1]?.length ?? 0) <= Math.log10(times);
    const number = exact ? Math.round(product) : product;
    return Number.isSafeInteger(number) && number >= least && number <= most ? number : undefined;
  };
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} on` : `from ${least} to ${most}`;
  return { form: `a whole number ${range}`, read, keep: (given) => read(given) ?? given };
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
  d: 8.64e7,
  w: 6.048e8,
};

/** Longer than anything that is waited for or kept: three centuries. */
const LONGEST_MS = 1e13;
const inReach = (ms: number) => (ms <= LONGEST_MS ? Math.round(ms) : undefined);

/** A length of time in milliseconds, written as `90s`, `1h30m` or `7d`; a bare number is seconds. */
export const duration: Reading<number> = {
  form: '500ms, 30s, 5m, 2h, 7d or 1h30m',
  read(given) {
    const text = asText(given);
    if (/^\d{1,12}(\.\d+)?$/.test(text)) return inReach(Number(text) * 1e3);
    if (!/^(\d{1,12}(\.\d+)?(ms|[smhdw]))+$/.test(text)) return undefined;
    let sum = 0;
    for (const [, count, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
      sum += Number(count) * (unitMs[unit] ?? 0);
    }
    return inReach(sum);
  },
  keep: asText,
};

/** A share as a fraction, written as `10%` or `0.1`. */
export const share: Reading<number> = {
  form: '10% or 0.1',
  read(given) {
    const [, number, percent] = /^(\d{1,3}(?:\.\d+)?)(%)?$/.exec(asText(given)) ?? [];
    const fraction = Number(number) / (percent ? 100 : 1);
    return fraction >= 0 && fraction <= 1 ? fraction : undefined;
  },
  keep: asText,
};

/** The service's address without a slash at its end: http or https, and nothing secret in it. */
export const baseUrl: Reading<string> = {
  form: 'https://host, with a path where there is one, and no user, query or fragment',
  read: baseUrlOf,
  keep: (given) => baseUrlOf(given) ?? given,
};

function baseUrlOf(given: Plain): string | undefined {
  if (!URL.canParse(asText(given))) return undefined;
  const url = new URL(asText(given));
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  if (url.username || url.password || url.search || url.hash) return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
