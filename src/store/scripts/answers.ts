import { script } from '../script.ts';

/**
 * Reads a key. Deletes it if another program has overwritten it with another type, so that the
 * answer is requested again.
 */
const READ = `
local function read(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) ~= 'table' or not reply.err then return reply or nil end
  if not string.find(reply.err, 'WRONGTYPE', 1, true) then return redis.call(command, key, ...) end
  redis.call('DEL', key)
end`;

/**
 * Returns `lead` if the caller must request the answer. ARGV[5]: what the caller could not read, to
 * be replaced.
 */
const ask = script(
  'ask',
  `${READ}
local entry = read('HMGET', KEYS[1], 'status', 'time', 'record', 'seal') or {}
if entry[4] and entry[4] == ARGV[5] then
  -- Deletes the damaged answer, so that only one machine requests it again.
  redis.call('DEL', KEYS[1])
  entry = {}
end
if entry[1] and entry[2] and entry[4] then
  local age = now - (tonumber(entry[2]) or 0)
  local limit = tonumber(entry[1] == '200' and ARGV[2] or ARGV[3])
  -- Allows times slightly in the future, because the clock of the server steps, or differs after a failover.
  if age < limit and age > -60000 then return { 'hit', entry[1], entry[2], entry[3] or '', entry[4], age } end
end
local claim = read('GET', KEYS[2])
if claim == ARGV[5] then claim = nil end
if claim and string.sub(claim, 1, 1) == '!' then return { 'failed', string.sub(claim, 2) } end
if claim and claim ~= ARGV[1] then return { 'wait' } end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[4])
return { 'lead' }`,
);

/**
 * An older answer never replaces a newer one. ARGV: token, lifetime in ms, status, time, record,
 * signature.
 */
const fill = script(
  'fill',
  `${READ}
local old = tonumber(read('HGET', KEYS[1], 'time') or '')
local isNewer = old and old > tonumber(ARGV[4]) and old <= now + 60000
if not isNewer then
  redis.call('HSET', KEYS[1], 'status', ARGV[3], 'time', ARGV[4], 'record', ARGV[5], 'seal', ARGV[6])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
if read('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1`,
);

/**
 * Ends a claim without an answer. KEYS: claim. ARGV: token, failure, how long to share it in ms (0:
 * not at all).
 */
const fail = script(
  'fail',
  `${READ}
if read('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[3]) > 0 then redis.call('SET', KEYS[1], '!' .. ARGV[2], 'PX', ARGV[3]) else redis.call('DEL', KEYS[1]) end
return 1`,
  { frees: true },
);

export const answerScripts = { ask, fill, fail };
