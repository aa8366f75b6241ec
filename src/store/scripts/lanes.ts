import { listReply, number } from '../replies.ts';
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
      if limit > 0 and place > limit then
        departure = math.max(departure, departures[place - limit] + window)
      end
      redis.call('ZADD', calls, departure, all[at])
    end
    departures[place] = departure
  end
  if #departures > 0 then
    redis.call('PEXPIRE', calls, departures[#departures] - now + 3 * window)
  end
end`;

/**
 * Lets a call leave, or says how long it must wait. A sliding log of departures, because GCRA
 * allows twice the limit within a window after a burst. With `books`, a call that waits reserves
 * its departure. Returns what `readSlot` reads.
 */
const take = script('take', {
  keys: ['calls', 'meta', 'fleet'],
  args: ['assumed', 'windowMs', 'ticket', 'books', 'machine', 'graceMs'],
  body: `
local window, grace = tonumber(windowMs), tonumber(graceMs)
local known = tonumber(redis.call('HGET', meta, 'known')) or 0
local limit = math.max(1, math.floor(known > 0 and known or tonumber(assumed)))
local blocked = tonumber(redis.call('HGET', meta, 'until')) or 0

redis.call('ZREMRANGEBYSCORE', calls, '-inf', now - window)
redis.call('ZADD', fleet, now, machine)
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
  local before = redis.call('ZRANGE', calls, -limit, -limit, 'WITHSCORES')[2]
  departure = math.max(departure, tonumber(before) + window)
end
if departure <= now then
  hold(now)
  return { 0, known, machines, 0 }
end
if books == '1' then hold(departure) end
return { departure - now, known, machines, blocked >= departure and 0 or 1 }`,
});

/** Blocks a lane for `ms` after a 429, and postpones its queued calls. */
const block = script('block', {
  keys: ['calls', 'meta'],
  args: ['ms', 'windowMs'],
  body: `${RESPACE}
local window = tonumber(windowMs)
local blocked = math.max(tonumber(redis.call('HGET', meta, 'until')) or 0, now + tonumber(ms))
local limit = tonumber(redis.call('HGET', meta, 'limit')) or 0
redis.call('HSET', meta, 'until', blocked)
redis.call('PEXPIRE', meta, math.max(3 * window, blocked - now + window))
respace(calls, limit, window, blocked)
return blocked - now`,
});

/**
 * Moves the departure of a call that leaves later than its slot. Returns 0 if the slot has expired.
 */
const departLate = script('departLate', {
  keys: ['calls', 'meta'],
  args: ['ticket', 'windowMs'],
  body: `${RESPACE}
local taken = tonumber(redis.call('ZSCORE', calls, ticket))
if not taken or taken <= now - tonumber(windowMs) then return 0 end
redis.call('ZADD', calls, now, ticket)
respace(calls, tonumber(redis.call('HGET', meta, 'limit')) or 0, tonumber(windowMs), now)
return 1`,
});

/** Removes the departure time of a call that is not sent, if it is in the future. */
const drop = script('drop', {
  keys: ['calls'],
  args: ['ticket'],
  frees: true,
  body: `
local booked = tonumber(redis.call('ZSCORE', calls, ticket))
if booked and booked > now then return redis.call('ZREM', calls, ticket) end
return 0`,
});

/** Saves the limit that the service reported for a lane. */
const learn = script('learn', {
  keys: ['meta'],
  args: ['limit', 'windowMs'],
  body: `
redis.call('HSET', meta, 'known', limit)
redis.call('PEXPIRE', meta, 3 * tonumber(windowMs))
return 1`,
});

/**
 * Adds calls that the store does not know, or may have lost: after the named arguments, ticket and
 * age in ms of each.
 */
const addUnrecorded = script('addUnrecorded', {
  keys: ['calls'],
  args: ['windowMs'],
  body: `
local window = tonumber(windowMs)
for at = REST, #ARGV, 2 do
  redis.call('ZADD', calls, 'NX', now - tonumber(ARGV[at + 1]), ARGV[at])
end
local last = tonumber(redis.call('ZRANGE', calls, -1, -1, 'WITHSCORES')[2] or now)
redis.call('PEXPIRE', calls, math.max(0, last - now) + 3 * window)
return 1`,
});

/** The answer of `take`. */
export interface LaneSlot {
  /** 0 if the call may leave. */
  readonly waitMs: number;
  /** The limit that the service reported; null if it did not. */
  readonly statedLimit: number | null;
  /** The machines that were active last. */
  readonly fleet: number;
  /** Whether the call waits only for other calls. */
  readonly isQueued: boolean;
}

export function readSlot(reply: unknown): LaneSlot {
  const [wait = 0, limit = 0, fleet = 1, queued = 0] = listReply(reply).map(number);
  return {
    waitMs: Math.max(0, Math.ceil(wait)),
    statedLimit: limit >= 1 ? limit : null,
    fleet: Math.max(1, Math.floor(fleet)),
    isQueued: queued === 1,
  };
}

export const laneScripts = { take, departLate, drop, block, learn, addUnrecorded };
