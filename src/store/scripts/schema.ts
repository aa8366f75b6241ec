import { script } from '../script.ts';

/** Claims the keys for a schema version, unless a newer one has. KEYS: schema. ARGV: version. Returns the version found, and server time. */
export const claim = script(
  'claim',
  `
local found = tonumber(redis.call('GET', KEYS[1]) or '0')
if found < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return { math.max(found, tonumber(ARGV[1])), now }`,
);
