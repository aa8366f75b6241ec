import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { simulate } from './run.ts';
import type { Schedule } from './schedule.ts';

const folder = new URL('./cases/', import.meta.url);
const cases = readdirSync(folder).filter((name) => name.endsWith('.json'));

test.each(cases)('the former failure %s stays fixed', async (name) => {
  const schedule: Schedule = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
  expect(await simulate([schedule])).toEqual([]);
});
