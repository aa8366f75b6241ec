import { afterEach, beforeEach } from 'vitest';

/** Sets the local time zone for each test. A test may change it. */
export function localTime(zone: string): void {
  const before = process.env['TZ'];
  beforeEach(() => {
    process.env['TZ'] = zone;
  });
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
}
