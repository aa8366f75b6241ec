import { script } from '../script.ts';

/**
 * ARGV: token, position, its verified time, its stream entry (each may be empty), ms and posts to
 * keep, then the posts. Returns `ok`, the last new entry, and the last post that any leader has
 * published; or `fenced` without the lease.
 */
const publish = script(
  'publish',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'fenced' } end
local last, before = '', redis.call('HGET', KEYS[4], 'last') or ''
local verified = redis.call('HGET', KEYS[4], 'floor') or ''
for at = 7, #ARGV, 3 do
  -- With the post before it, a follower sees whether entries between two reads were lost, and with the verified time,
  -- which posts they may be: a leader publishes frames before it has read the older posts from pages.
  local fields = { 'id', ARGV[at], 'at', ARGV[at + 1], 'body', ARGV[at + 2], 'prev', before, 'verified', verified }
  last, before = redis.call('XADD', KEYS[2], '*', unpack(fields)), ARGV[at]
end
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[3], ARGV[2])
  redis.call('HSET', KEYS[4], 'entry', ARGV[4])
end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[4], 'floor', ARGV[3]) end
if last ~= '' then
  redis.call('XTRIM', KEYS[2], 'MAXLEN', '~', ARGV[6])
  redis.call('XTRIM', KEYS[2], 'MINID', '~', math.max(0, now - tonumber(ARGV[5])))
  redis.call('HSET', KEYS[4], 'published', now)
  redis.call('HSET', KEYS[4], 'last', before)
end
return { 'ok', last, before }`,
);

/**
 * The first entry names the last post of the former stream, or this beginning; `born` marks it as
 * another stream.
 */
const beginFeed = script(
  'beginFeed',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= '' then redis.call('SET', KEYS[2], ARGV[2]) end
redis.call('HSET', KEYS[3], 'born', ARGV[1])
redis.call('HSET', KEYS[3], 'last', ARGV[3] ~= '' and ARGV[3] or 'born:' .. ARGV[1])
return 1`,
);

/**
 * Newest first, without bodies. Returns the oldest entry read (or empty), then entry, id and time
 * of each post.
 */
const listEntries = script(
  'listEntries',
  `
local flat = { '' }
for _, pair in ipairs(redis.call('XREVRANGE', KEYS[1], ARGV[1], '-', 'COUNT', ARGV[2])) do
  local field = {}
  for at = 1, #pair[2], 2 do field[pair[2][at]] = pair[2][at + 1] end
  flat[1] = pair[1]
  if field.id and field.body then
    for _, one in ipairs({ pair[1], field.id, field.at or '' }) do flat[#flat + 1] = one end
  end
end
return flat`,
);

/**
 * KEYS: lease, stream. ARGV: token, group, entries. Returns -1 if the active member has lost the
 * lease.
 */
const ackOrdered = script(
  'ackOrdered',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local count = 0
for at = 3, #ARGV do count = count + redis.call('XACK', KEYS[2], ARGV[2], ARGV[at]) end
return count`,
  { frees: true },
);

/**
 * KEYS: lease, info. ARGV: token, duration of the lease in ms, fields and values. Returns 0 if the
 * leader has lost the lease.
 */
const report = script(
  'report',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
redis.call('HSET', KEYS[2], 'renewed', now)
return 1`,
  { frees: true },
);

export const feedScripts = { publish, beginFeed, listEntries, ackOrdered, report };
