/** Groups digits in thousands: `1,234,567.5`. */
export function group(digits: string | number): string {
  const [whole = '', ...rest] = String(digits).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...rest].join('.');
}

/** An amount of compute units as text: `30,000 CU`. */
export const unitsText = (cu: number): string => `${group(cu)} CU`;
