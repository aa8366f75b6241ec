/** Groups digits in thousands: `1,234,567.5`. */
export function group(digits: string | number): string {
  const [whole = '', ...rest] = String(digits).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...rest].join('.');
}

/** A count with its noun: `1 handle`, `2,000 handles`. */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${group(count)} ${count === 1 ? one : many}`;

export const unitsText = (cu: number): string => `${group(cu)} CU`;
