import { script } from '../script.ts';

/**
 * Marks the keys with a schema version, unless a newer version is already there. KEYS: schema. ARGV: version.
 * Returns the version found, and the server's time.
 */
export const claim = script(
  'claim',
  `
local found = tonumber(redis.call('GET', KEYS[1]) or '0')
if found < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return { math.max(found, tonumber(ARGV[1])), now }`,
);
