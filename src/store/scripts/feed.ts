import { script } from '../script.ts';

/**
 * Publishes posts together with their ids and the checkpoint in one step. So a crash of the relay cannot leave an
 * entry whose id is not saved, or a checkpoint beyond an entry that was not written. (For a crash of the server, see
 * the comments in the script.) Does nothing unless the caller holds the lease.
 *
 * KEYS: lease, seen ids, stream, checkpoint, info. ARGV: token, checkpoint (or empty), the post time before which
 * seen ids are removed (or empty), how long to keep posts in ms, how many posts to keep, ids and times of posts to
 * mark as seen without publishing them (JSON, or empty), then id, post time and body of each post, oldest first.
 * Returns `fenced` if the caller has lost the lease, or `ok`, how many posts were new, the id of the last entry, and
 * the id of the last post that any leader has published.
 */
export const publish = script(
  'publish',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 'fenced' } end
local added, last, fresh, members = 0, '', {}, {}
local before = redis.call('HGET', KEYS[5], 'last') or ''
local verified = redis.call('HGET', KEYS[5], 'floor') or ''
for at = 7, #ARGV, 3 do
  local id, time = ARGV[at], ARGV[at + 1]
  if not fresh[id] and not redis.call('ZSCORE', KEYS[2], id) then
    -- With the post before it, a follower sees whether entries between two reads were lost, and with the verified time,
    -- which posts they may be: a leader publishes frames before it has read the older posts from pages.
    local fields = { 'id', id, 'at', time, 'body', ARGV[at + 2], 'prev', before, 'verified', verified }
    last = redis.call('XADD', KEYS[3], '*', unpack(fields))
    fresh[id], before = true, id
    -- The id of a post without a time is never removed, because the age of the post is not known.
    members[2 * added + 1], members[2 * added + 2] = time == '' and '+inf' or time, id
    added = added + 1
  end
end
-- Write the entries before their ids. If a crash of the server cuts off the write, entries without ids remain, and the
-- next leader adds these ids. It could not restore an entry from its id.
if added > 0 then redis.call('ZADD', KEYS[2], unpack(members)) end
if ARGV[6] ~= '' then
  for _, one in ipairs(cjson.decode(ARGV[6])) do redis.call('ZADD', KEYS[2], 'NX', one[2], one[1]) end
end
if ARGV[2] ~= '' then redis.call('SET', KEYS[4], ARGV[2]) end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[5], 'floor', ARGV[3])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[3])
end
if added > 0 then
  redis.call('XTRIM', KEYS[3], 'MAXLEN', '~', ARGV[5])
  redis.call('XTRIM', KEYS[3], 'MINID', '~', math.max(0, now - tonumber(ARGV[4])))
  redis.call('HSET', KEYS[5], 'published', now)
  redis.call('HSET', KEYS[5], 'last', before)
end
return { 'ok', added, last, before }`,
);

/**
 * Reads what a relay remembers of a feed. KEYS: checkpoint, seen ids, info. Returns the checkpoint (empty if there is
 * none), the id of the last published post (or empty), and the seen ids with their post times.
 */
export const feedState = script(
  'feedState',
  `
local ids = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
return { redis.call('GET', KEYS[1]) or '', redis.call('HGET', KEYS[3], 'last') or '', ids }`,
  { frees: true },
);

/**
 * Begins a feed that the store does not have, with the state that the leader remembers, if it does. The first entry then
 * names the last post of the former stream as the one before it. `born` tells groups that this is another stream.
 *
 * KEYS: lease, seen ids, checkpoint, info. ARGV: token, checkpoint (or empty), ids and times of the seen posts (JSON),
 * last published post (or empty). Returns 0 if the caller has lost the lease.
 */
export const beginFeed = script(
  'beginFeed',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for _, one in ipairs(cjson.decode(ARGV[3])) do redis.call('ZADD', KEYS[2], 'NX', one[2], one[1]) end
if ARGV[2] ~= '' then redis.call('SET', KEYS[3], ARGV[2]) end
redis.call('HSET', KEYS[4], 'born', ARGV[1])
redis.call('HSET', KEYS[4], 'last', ARGV[4])
return 1`,
);

/**
 * Lists posts of the stream without their bodies, newest first. KEYS: stream. ARGV: where to start (`+`, or `(` and
 * the entry to start before), and how many entries to read. Returns the oldest entry that was read (empty if
 * there was none), then entry, id and post time of each post.
 */
export const listEntries = script(
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
 * Deletes entries that a later entry repeats, adds missing ids, and records the start of the server for which
 * this was checked. KEYS: lease, seen ids, stream, info. ARGV: token, start of the server, ids with their times
 * (JSON), then the entries to delete. Returns 0 if the caller has lost the lease.
 */
export const repair = script(
  'repair',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for _, one in ipairs(cjson.decode(ARGV[3])) do redis.call('ZADD', KEYS[2], 'NX', one[2], one[1]) end
-- Ignore a missing permission for XDEL, which earlier versions of trdr did not need: the feed works without the deletion.
for at = 4, #ARGV do redis.pcall('XDEL', KEYS[3], ARGV[at]) end
redis.call('HSET', KEYS[4], 'checked', ARGV[2])
return 1`,
);

/**
 * Acknowledges entries for the active member of an ordered group. KEYS: lease, stream. ARGV: token, group,
 * entries. Returns -1 if the member has lost the lease.
 */
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
 * Extends the leader's lease and saves the leader's state. KEYS: lease, info. ARGV: token, new duration of the lease in
 * ms, then fields and values of the state. Returns 0 if the leader has lost the lease.
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
