import { script } from '../script.ts';

/**
 * Writes the schema version to the store, unless the store already has a newer version. KEYS: schema. ARGV:
 * version.
 */
export const writeSchema = script(
  'writeSchema',
  `
local found = tonumber(redis.call('GET', KEYS[1]) or '0')
if found < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return { now }`,
);
