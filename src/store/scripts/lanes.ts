import { script } from '../script.ts';

/**
 * Moves the departures in the future, none before `earliest`, so that they keep their order and the
 * limit.
 */
const RESPACE = `
local function respace(calls, limit, window, earliest)
  local all = redis.call('ZRANGE', calls, 0, -1, 'WITHSCORES')
  local departures = {}
  for at = 1, #all, 2 do
    local place = (at + 1) / 2
    local departure = tonumber(all[at + 1])
    if departure > now then
      departure = math.max(departure, earliest, departures[place - 1] or 0)
      if limit > 0 and place > limit then departure = math.max(departure, departures[place - limit] + window) end
      redis.call('ZADD', calls, departure, all[at])
    end
    departures[place] = departure
  end
  if #departures > 0 then redis.call('PEXPIRE', calls, departures[#departures] - now + 3 * window) end
end`;

/**
 * A sliding log, because GCRA allows twice the limit within a window after a burst. ARGV[4] is 1 if
 * a call that waits reserves its departure. Returns the wait, the reported limit (or 0), the active
 * machines, and 1 if a queue causes it.
 */
const take = script(
  'take',
  `
local calls, meta, fleet = KEYS[1], KEYS[2], KEYS[3]
local window, ticket, grace = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[6])
local known = tonumber(redis.call('HGET', meta, 'known')) or 0
local limit = math.max(1, math.floor(known > 0 and known or tonumber(ARGV[1])))
local blocked = tonumber(redis.call('HGET', meta, 'until')) or 0

redis.call('ZREMRANGEBYSCORE', calls, '-inf', now - window)
redis.call('ZADD', fleet, now, ARGV[5])
redis.call('ZREMRANGEBYSCORE', fleet, '-inf', now - 2 * window)
redis.call('PEXPIRE', fleet, 2 * window)
local machines = redis.call('ZCARD', fleet)
redis.call('HSET', meta, 'limit', limit)
redis.call('PEXPIRE', meta, math.max(3 * window, blocked - now + window))

local function hold(departure)
  redis.call('ZADD', calls, departure, ticket)
  local last = tonumber(redis.call('ZRANGE', calls, -1, -1, 'WITHSCORES')[2])
  redis.call('PEXPIRE', calls, last - now + 3 * window)
end

local booked = tonumber(redis.call('ZSCORE', calls, ticket))
if booked then
  if booked > now then return { booked - now, known, machines, 1 } end
  if now - booked <= grace then
    hold(now)
    return { 0, known, machines, 0 }
  end
  -- Too late: other calls were placed after that departure, so this call queues again.
  redis.call('ZREM', calls, ticket)
end

local departure = math.max(now, blocked)
local count = redis.call('ZCARD', calls)
if count > 0 then
  departure = math.max(departure, tonumber(redis.call('ZRANGE', calls, -1, -1, 'WITHSCORES')[2]))
end
if count >= limit then
  departure = math.max(departure, tonumber(redis.call('ZRANGE', calls, -limit, -limit, 'WITHSCORES')[2]) + window)
end
if departure <= now then
  hold(now)
  return { 0, known, machines, 0 }
end
if ARGV[4] == '1' then hold(departure) end
return { departure - now, known, machines, blocked >= departure and 0 or 1 }`,
);

/**
 * Blocks a lane after a 429, and postpones its queued calls. KEYS: calls, meta. ARGV: how long in
 * ms, window in ms.
 */
const block = script(
  'block',
  `${RESPACE}
local calls, meta, window = KEYS[1], KEYS[2], tonumber(ARGV[2])
local blocked = math.max(tonumber(redis.call('HGET', meta, 'until')) or 0, now + tonumber(ARGV[1]))
local limit = tonumber(redis.call('HGET', meta, 'limit')) or 0
redis.call('HSET', meta, 'until', blocked)
redis.call('PEXPIRE', meta, math.max(3 * window, blocked - now + window))
respace(calls, limit, window, blocked)
return blocked - now`,
);

/**
 * For a call that leaves later than its slot. KEYS: calls, meta. ARGV: ticket, window. Returns 0 if
 * the slot has expired.
 */
const departLate = script(
  'departLate',
  `${RESPACE}
local taken = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if not taken or taken <= now - tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[1])
respace(KEYS[1], tonumber(redis.call('HGET', KEYS[2], 'limit')) or 0, tonumber(ARGV[2]), now)
return 1`,
);

/**
 * Removes the departure time of a call that is not sent, if it is in the future. KEYS: calls. ARGV:
 * ticket.
 */
const drop = script(
  'drop',
  `
local booked = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if booked and booked > now then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0`,
  { frees: true },
);

/** Saves the limit that the service reported for a lane. KEYS: meta. ARGV: limit, window. */
const learn = script(
  'learn',
  `
redis.call('HSET', KEYS[1], 'known', ARGV[1])
redis.call('PEXPIRE', KEYS[1], 3 * tonumber(ARGV[2]))
return 1`,
);

/**
 * Calls that the store does not know, or may have lost. KEYS: calls. ARGV: window, then ticket and
 * age in ms of each.
 */
const addUnrecorded = script(
  'addUnrecorded',
  `
local window = tonumber(ARGV[1])
for at = 2, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'NX', now - tonumber(ARGV[at + 1]), ARGV[at]) end
local last = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or now)
redis.call('PEXPIRE', KEYS[1], math.max(0, last - now) + 3 * window)
return 1`,
);

export const laneScripts = { take, departLate, drop, block, learn, addUnrecorded };
