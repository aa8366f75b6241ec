import { script } from '../script.ts';

/**
 * Publishes posts, their ids and the mark in one step, so that no crash leaves an entry without its id or a mark
 * above its entries. Does nothing unless the lease is the caller's.
 * KEYS: lease, seen, stream, mark, info. ARGV: token, mark (or empty), floor (or empty), ms to keep, rows to keep,
 * ids known beside the posts with their times (JSON, or empty), then id, post time and body of each post, oldest
 * first.
 * Returns `fenced`, or `ok`, how many were new, and the last entry's id.
 */
export const publish = script(
  'publish',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'fenced' } end
local added, last = 0, ''
for at = 7, #ARGV, 3 do
  local id, time = ARGV[at], ARGV[at + 1]
  -- A post without a time is remembered permanently, because it keeps its place in the pages.
  if redis.call('ZADD', KEYS[2], 'NX', time == '' and '+inf' or time, id) == 1 then
    last = redis.call('XADD', KEYS[3], '*', 'id', id, 'at', time, 'body', ARGV[at + 2])
    added = added + 1
    if time ~= '' then redis.call('HSET', KEYS[5], 'newest', time) end
  end
end
if ARGV[6] ~= '' then
  for _, one in ipairs(cjson.decode(ARGV[6])) do redis.call('ZADD', KEYS[2], 'NX', one[2], one[1]) end
end
if ARGV[2] ~= '' then redis.call('SET', KEYS[4], ARGV[2]) end
if ARGV[3] ~= '' then redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[3]) end
if added > 0 then
  redis.call('XTRIM', KEYS[3], 'MAXLEN', '~', ARGV[5])
  redis.call('XTRIM', KEYS[3], 'MINID', '~', math.max(0, now - tonumber(ARGV[4])))
  redis.call('HSET', KEYS[5], 'published', now)
  redis.call('HINCRBY', KEYS[5], 'rows', added)
end
return { 'ok', added, last }`,
);

/** Acknowledges entries for the one active member of a group. KEYS: lease, stream. ARGV: token, group, ids. */
export const ackOrdered = script(
  'ackOrdered',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local count = 0
for at = 3, #ARGV do count = count + redis.call('XACK', KEYS[2], ARGV[2], ARGV[at]) end
return count`,
  { frees: true },
);

/**
 * Extends the leader's lease and saves its state. KEYS: lease, info. ARGV: token, ms, then fields and
 * values. Returns 0 if another process holds the lease.
 */
export const report = script(
  'report',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
for at = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1]) end
redis.call('HSET', KEYS[2], 'renewed', now)
return 1`,
  { frees: true },
);
