import { script } from '../script.ts';

/**
 * The value of a budget that was removed on purpose. A budget without a value was lost by the
 * store.
 */
export const REMOVED = 'removed';

/**
 * On another day, returns `period` and the time of the server, because the caller needs other keys.
 */
const BASE = `
local open, calls, done, month, day, caps = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local LIFE = 62 * 86400000
local thisDay, thisMonth = ARGV[2], string.sub(ARGV[2], 1, 7)
if now < tonumber(ARGV[1]) or now >= tonumber(ARGV[1]) + 86400000 then return { 'period', now } end

local function number(key, field) return tonumber(redis.call('HGET', key, field)) or 0 end

-- A limit or sum in CU, or nil if it does not exist or was removed. If another program has overwritten it, also with
-- NaN or infinity, the script fails, because a damaged limit would allow unlimited spending.
local function amount(key, field)
  local text = redis.call('HGET', key, field)
  if not text or text == '${REMOVED}' then return nil end
  local value = tonumber(text)
  if not value or value - value ~= 0 then error({ err = 'DAMAGED ' .. key }) end
  return value
end

local function addTo(sum, kind, machine, cu)
  redis.call('HINCRBY', sum, kind, cu)
  redis.call('HINCRBY', sum, kind .. '@' .. machine, cu)
  redis.call('PEXPIRE', sum, LIFE)
end

local function add(kind, machine, cu)
  if cu == 0 then return end
  addTo(month, kind, machine, cu)
  addTo(day, kind, machine, cu)
end

-- Subtracts a loss from the period in which it was recorded, unless that period is over.
local function undoLoss(call)
  if call.month == thisMonth then addTo(month, 'lost', call.machine, -call.most) end
  if call.day == thisDay then addTo(day, 'lost', call.machine, -call.most) end
  -- Make machines request the service's count again: the loss was subtracted from the last count, so units of other
  -- programs may be missing from the sums.
  redis.call('HDEL', month, 'seeded')
end

-- Remembers a settled or lost call for a while, so that a repeated request changes nothing.
local function remember(id, text, ms)
  redis.call('ZADD', done, now + ms, id)
  redis.call('HSET', calls, id, text)
end

local function forget()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', done, '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', done, id)
    redis.call('HDEL', calls, id)
  end
end

local function read(id)
  local text = redis.call('HGET', calls, id)
  return text and cjson.decode(text) or nil
end

local function enter(ledger, id, machine, command, endpoint, status, cu, most, request)
  redis.call('XADD', ledger, 'MAXLEN', '~', 100000, '*', 'id', id, 'machine', machine, 'command', command,
    'endpoint', endpoint, 'status', status, 'cu', cu, 'most', most, 'request', request)
end

local function lose(id, call, ledger)
  redis.call('ZREM', open, id)
  remember(id, cjson.encode({ state = 'lost', most = call.most, machine = call.machine, month = thisMonth, day = thisDay }), 35 * 86400000)
  add('lost', call.machine, call.most)
  if ledger then enter(ledger, id, call.machine, call.command, call.endpoint, '', 0, call.most, '') end
end

-- The CU reserved for calls in flight: those of all machines, and those of one machine.
local function reservations(machine)
  local reserved, mine = 0, 0
  for _, id in ipairs(redis.call('ZRANGE', open, 0, -1)) do
    local call = read(id)
    if call and call.state == 'open' then
      reserved = reserved + call.most
      if call.machine == machine then mine = mine + call.most end
    end
  end
  return reserved, mine
end

-- An expired reservation belongs to a process that died or could not reach the store: its call may have been charged.
local function expire(ledger)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', open, '-inf', now)) do
    local call = read(id)
    if call and call.state == 'open' then
      lose(id, call, ledger)
    else
      redis.call('ZREM', open, id)
    end
  end
end
`;

const money = (name: string, body: string, frees = false) =>
  script(name, `${BASE}\n${body}`, { frees });

/**
 * Reserves the maximum cost right before a call is sent; a second request with the same id changes
 * nothing. The caller tries again after `reseed` (raise the sums first), `refresh` (the sums are
 * old) and `over` (this id has ended).
 */
const begin = money(
  'begin',
  `
local id, most, ttl, machine, boot = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[9]
expire(KEYS[7])
forget()
local known = read(id)
if known then return { known.state == 'open' and 'held' or 'over' } end

local gone = { 'gone' }
for at = 10, #ARGV do
  if not redis.call('HGET', caps, ARGV[at]) then table.insert(gone, ARGV[at]) end
end
if #gone > 1 then return gone end
local limits = {}
for _, budget in ipairs({ { 'month', month, '' }, { 'day', day, '' }, { 'month', month, '@' .. machine }, { 'day', day, '@' .. machine } }) do
  local cap = amount(caps, budget[1] .. budget[3])
  if cap then table.insert(limits, { name = budget[1] .. budget[3], sum = budget[2], of = budget[3], cap = cap }) end
end
if #limits > 0 then
  if not most then return { 'unpriced', limits[1].name, limits[1].cap } end
  if redis.call('HGET', month, 'boot') ~= boot or redis.call('HGET', day, 'boot') ~= boot then return { 'reseed' } end
  local seeded = number(month, 'seeded')
  if now - seeded > 600000 or seeded > now then
    -- Only one machine requests the service's count; the others continue.
    redis.call('HSET', month, 'seeded', now)
    return { 'refresh', (reservations(machine)) }
  end
  local reserved, mine = reservations(machine)
  for _, limit in ipairs(limits) do
    local held = limit.of == '' and reserved or mine
    local used = (amount(limit.sum, 'spent' .. limit.of) or 0) + (amount(limit.sum, 'lost' .. limit.of) or 0) + held
    if used + most > limit.cap then return { 'refused', limit.name, limit.cap, used, held } end
  end
end
redis.call('ZADD', open, now + ttl, id)
redis.call('HSET', calls, id, cjson.encode({ state = 'open', most = most or 0, machine = machine, command = ARGV[7], endpoint = ARGV[8] }))
local answer = { 'ok', redis.call('HGET', day, 'base') or '' }
for _, limit in ipairs(limits) do
  table.insert(answer, limit.name)
  table.insert(answer, limit.cap)
end
return answer`,
);

/** KEYS: budgets. ARGV: name. Returns the limit of the removed budget, or nil if there was none. */
const removeBudget = script(
  'removeBudget',
  `
local limit = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], '${REMOVED}')
return limit ~= '${REMOVED}' and limit or false`,
  { frees: true },
);

/**
 * Also corrects a call that was recorded as lost. ARGV[5..6]: the certain CU, and the possible CU
 * beyond them.
 */
const settle = money(
  'settle',
  `
local id, outcome, cu, uncertain, machine = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local known = read(id)
if known and known.state == 'paid' then return { 'ok' } end
if outcome == 'lost' then
  if known and known.state == 'lost' then return { 'ok' } end
  lose(id, { most = uncertain, machine = machine, command = ARGV[8], endpoint = ARGV[9] }, KEYS[7])
  return { 'ok' }
end
if known and known.state == 'lost' then undoLoss(known) end
redis.call('ZREM', open, id)
remember(id, cjson.encode({ state = 'paid' }), 600000)
add('spent', machine, cu)
add('lost', machine, uncertain)
if cu + uncertain > 0 then enter(KEYS[7], id, machine, ARGV[8], ARGV[9], ARGV[10], cu, uncertain, ARGV[11]) end
return { 'ok' }`,
  true,
);

/** Removes the reservation of a call that was not sent or was free. ARGV[3]: id. */
const release = money(
  'release',
  `
local known = read(ARGV[3])
if known and known.state == 'lost' then
  undoLoss(known)
  redis.call('ZREM', done, ARGV[3])
end
if known and known.state ~= 'paid' then
  redis.call('ZREM', open, ARGV[3])
  redis.call('HDEL', calls, ARGV[3])
end
return { 'ok' }`,
  true,
);

/**
 * Raises the sums to the service's count, never adds to them, so that nothing counts twice. The
 * count may include `lost` and reserved calls, which are subtracted first, unless a restart or
 * failover made their sums unreliable.
 */
const reseed = money(
  'reseed',
  `
local restarted = redis.call('HGET', month, 'boot') ~= ARGV[5]
if restarted then
  for sum, period in pairs({ [month] = { 'month', thisMonth }, [day] = { 'day', thisDay } }) do
    local lost = {}
    for at, field in ipairs(redis.call('HGETALL', sum)) do
      if at % 2 == 1 and string.sub(field, 1, 4) == 'lost' then lost[field] = 0 end
    end
    for at, text in ipairs(redis.call('HGETALL', calls)) do
      local call = at % 2 == 0 and cjson.decode(text) or {}
      if call.state == 'lost' and call[period[1]] == period[2] then
        for _, field in ipairs({ 'lost', 'lost@' .. call.machine }) do lost[field] = (lost[field] or 0) + call.most end
      end
    end
    for field, cu in pairs(lost) do redis.call('HSET', sum, field, cu) end
  end
end
local used = ARGV[4] == thisMonth and tonumber(ARGV[3]) or 0
local base = tonumber(redis.call('HGET', day, 'base'))
if not base then
  base = ARGV[7] == thisDay and tonumber(ARGV[8]) or math.max(0, used - number(day, 'spent'))
  redis.call('HSET', day, 'base', base)
end
local reserved = ARGV[6] == '' and reservations('') or tonumber(ARGV[6])
local function raise(sum, count)
  local covered = restarted and 0 or reserved + number(sum, 'lost')
  redis.call('HSET', sum, 'spent', math.max(number(sum, 'spent'), count - covered), 'boot', ARGV[5])
  redis.call('PEXPIRE', sum, LIFE)
end
raise(month, used)
raise(day, used - base)
redis.call('HSET', month, 'seeded', now)
return { 'ok', base }`,
  true,
);

export const spendingScripts = { begin, removeBudget, settle, release, reseed };
