import { script } from '../script.ts';

/**
 * The value of a budget that was removed on purpose. A budget without a value was lost by the
 * store.
 */
export const REMOVED = 'removed';

/**
 * The end of the names of budgets and sums that count wallet reveals. No machine has such a name.
 */
export const REVEALS = '#reveals';

/**
 * The first lines of all scripts of money. On another day, they return `period` and the time of the
 * server, because the caller needs other keys.
 */
const BASE = `
local LIFE = 62 * 86400000
local thisMonth = string.sub(thisDay, 1, 7)
if now < tonumber(dayStart) or now >= tonumber(dayStart) + 86400000 then
  return { 'period', now }
end

local function number(key, field) return tonumber(redis.call('HGET', key, field)) or 0 end

-- A limit or sum in CU, or nil if it does not exist or was removed. If another program has
-- overwritten it, also with NaN or infinity, the script fails, because a damaged limit would allow
-- unlimited spending.
local function amount(key, field)
  local text = redis.call('HGET', key, field)
  if not text or text == '${REMOVED}' then return nil end
  local value = tonumber(text)
  if not value or value - value ~= 0 then error({ err = 'DAMAGED ' .. key }) end
  return value
end

-- A damaged sum stays as it is, and stops the calls that it limits. It must not stop this script,
-- because the sums that are not raised yet would never have the call.
local function raise(sum, field, count)
  if count ~= 0 then redis.pcall('HINCRBY', sum, field, count) end
end

-- Wallet reveals are counted beside CU, of all machines together.
local function addTo(sum, kind, machine, cu, reveals)
  raise(sum, kind, cu)
  raise(sum, kind .. '@' .. machine, cu)
  raise(sum, kind .. '${REVEALS}', reveals)
  redis.call('PEXPIRE', sum, LIFE)
end

local function add(kind, machine, cu, reveals)
  if cu == 0 and reveals == 0 then return end
  addTo(month, kind, machine, cu, reveals)
  addTo(day, kind, machine, cu, reveals)
end

-- Subtracts a loss from the period in which it was recorded, unless that period is over.
local function undoLoss(call)
  local reveals = -(call.reveals or 0)
  if call.month == thisMonth then addTo(month, 'lost', call.machine, -call.most, reveals) end
  if call.day == thisDay then addTo(day, 'lost', call.machine, -call.most, reveals) end
  -- Make machines request the service's count again: the loss was subtracted from the last count,
  -- so units of other programs may be missing from the sums.
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
  redis.call('XADD', ledger, 'MAXLEN', '~', 100000, '*',
    'id', id, 'machine', machine, 'command', command, 'endpoint', endpoint,
    'status', status, 'cu', cu, 'most', most, 'request', request)
end

local function lose(id, call, ledger)
  redis.call('ZREM', open, id)
  local reveals = call.reveals or 0
  local lost = {
    state = 'lost', most = call.most, reveals = reveals, machine = call.machine,
    month = thisMonth, day = thisDay,
  }
  remember(id, cjson.encode(lost), 35 * 86400000)
  add('lost', call.machine, call.most, reveals)
  if ledger then
    enter(ledger, id, call.machine, call.command, call.endpoint, '', 0, call.most, '')
  end
end

-- The CU reserved for calls in flight, those of all machines and those of one machine, and the
-- reveals of all.
local function reservations(machine)
  local reserved, mine, revealed = 0, 0, 0
  for _, id in ipairs(redis.call('ZRANGE', open, 0, -1)) do
    local call = read(id)
    if call and call.state == 'open' then
      reserved = reserved + call.most
      if call.machine == machine then mine = mine + call.most end
      revealed = revealed + (call.reveals or 0)
    end
  end
  return reserved, mine, revealed
end

-- An expired reservation belongs to a process that died or could not reach the store: its call may
-- have been charged.
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

const MONEY_KEYS = ['open', 'calls', 'done', 'month', 'day', 'caps', 'ledger'] as const;

/** A script of money, whose keys are those of a day, and whose first arguments say which. */
const money = <const Arg extends string>(
  name: string,
  { args, frees = false, body }: { args: readonly Arg[]; frees?: boolean; body: string },
) =>
  script(name, {
    keys: MONEY_KEYS,
    args: ['dayStart', 'thisDay', ...args],
    frees,
    body: `${BASE}\n${body}`,
  });

/**
 * Reserves the maximum cost of a call right before it is sent; a second request with the same id
 * changes nothing. After the named arguments: the budgets that the caller remembers, which must
 * still be there. Returns what `readBegun` reads.
 */
const begin = money('begin', {
  args: ['id', 'most', 'reveals', 'ttl', 'machine', 'command', 'endpoint', 'boot'],
  body: `
local most, reveals, ttl = tonumber(most), tonumber(reveals) or 0, tonumber(ttl)
expire(ledger)
forget()
local known = read(id)
if known then return { known.state == 'open' and 'held' or 'over' } end

local gone = { 'gone' }
for at = REST, #ARGV do
  if not redis.call('HGET', caps, ARGV[at]) then table.insert(gone, ARGV[at]) end
end
if #gone > 1 then return gone end
local limits = {}
for _, of in ipairs({ '', '@' .. machine, '${REVEALS}' }) do
  for _, period in ipairs({ { 'month', month }, { 'day', day } }) do
    local name = period[1] .. of
    local cap = amount(caps, name)
    if cap then table.insert(limits, { name = name, sum = period[2], of = of, cap = cap }) end
  end
end
if #limits > 0 then
  if not most then return { 'unpriced', limits[1].name, limits[1].cap } end
  if redis.call('HGET', month, 'boot') ~= boot or redis.call('HGET', day, 'boot') ~= boot then
    return { 'reseed' }
  end
  local seeded = number(month, 'seeded')
  if now - seeded > 600000 or seeded > now then
    -- Only one machine requests the service's count; the others continue.
    redis.call('HSET', month, 'seeded', now)
    return { 'refresh', (reservations(machine)) }
  end
  local reserved, mine, revealed = reservations(machine)
  for _, limit in ipairs(limits) do
    local need, held = most, limit.of == '' and reserved or mine
    if limit.of == '${REVEALS}' then need, held = reveals, revealed end
    local spent = amount(limit.sum, 'spent' .. limit.of) or 0
    local lost = amount(limit.sum, 'lost' .. limit.of) or 0
    local used = spent + lost + held
    local mayReveal = limit.of ~= '${REVEALS}' or reveals > 0
    if mayReveal and used + need > limit.cap then
      return { 'refused', limit.name, limit.cap, used, held }
    end
  end
end
redis.call('ZADD', open, now + ttl, id)
local call = {
  state = 'open', most = most or 0, reveals = reveals, machine = machine, command = command,
  endpoint = endpoint,
}
redis.call('HSET', calls, id, cjson.encode(call))
local answer = { 'ok', redis.call('HGET', day, 'base') or '' }
for _, limit in ipairs(limits) do
  table.insert(answer, limit.name)
  table.insert(answer, limit.cap)
end
return answer`,
});

/** Removes a budget. Returns its limit, or nil if there was none. */
const removeBudget = script('removeBudget', {
  keys: ['caps'],
  args: ['name'],
  frees: true,
  body: `
local limit = redis.call('HGET', caps, name)
redis.call('HSET', caps, name, '${REMOVED}')
return limit ~= '${REMOVED}' and limit or false`,
});

/**
 * Records the outcome of a call: what it certainly cost (`cu`), and what it may have cost beyond
 * that (`uncertain`). Also corrects a call that was recorded as lost.
 */
const settle = money('settle', {
  args: [
    ...['id', 'outcome', 'cu', 'uncertain', 'reveals', 'uncertainReveals'],
    ...['machine', 'command', 'endpoint', 'status', 'request'],
  ],
  frees: true,
  body: `
local cu, uncertain = tonumber(cu), tonumber(uncertain)
local reveals, uncertainReveals = tonumber(reveals), tonumber(uncertainReveals)
local known = read(id)
if known and known.state == 'paid' then return { 'ok' } end
if outcome == 'lost' then
  if known and known.state == 'lost' then return { 'ok' } end
  local call = {
    most = uncertain, reveals = uncertainReveals, machine = machine, command = command,
    endpoint = endpoint,
  }
  lose(id, call, ledger)
  return { 'ok' }
end
if known and known.state == 'lost' then undoLoss(known) end
redis.call('ZREM', open, id)
remember(id, cjson.encode({ state = 'paid' }), 600000)
add('spent', machine, cu, reveals)
add('lost', machine, uncertain, uncertainReveals)
if cu + uncertain > 0 then
  enter(ledger, id, machine, command, endpoint, status, cu, uncertain, request)
end
return { 'ok' }`,
});

/** Removes the reservation of a call that was not sent or was free. */
const release = money('release', {
  args: ['id'],
  frees: true,
  body: `
local known = read(id)
if known and known.state == 'lost' then
  undoLoss(known)
  redis.call('ZREM', done, id)
end
if known and known.state ~= 'paid' then
  redis.call('ZREM', open, id)
  redis.call('HDEL', calls, id)
end
return { 'ok' }`,
});

/**
 * Raises the sums to the service's count, never adds to them, so that nothing counts twice. The
 * count may include `lost` and reserved calls, which are subtracted first, unless a restart or
 * failover made their sums unreliable.
 */
const reseed = money('reseed', {
  args: [
    ...['unitsUsed', 'revealsUsed', 'usedMonth', 'boot', 'reservedBefore'],
    ...['startDay', 'startUnits'],
  ],
  frees: true,
  body: `
local restarted = redis.call('HGET', month, 'boot') ~= boot
if restarted then
  for sum, period in pairs({ [month] = { 'month', thisMonth }, [day] = { 'day', thisDay } }) do
    local lost = {}
    for at, field in ipairs(redis.call('HGETALL', sum)) do
      if at % 2 == 1 and string.sub(field, 1, 4) == 'lost' then lost[field] = 0 end
    end
    for at, text in ipairs(redis.call('HGETALL', calls)) do
      local call = at % 2 == 0 and cjson.decode(text) or {}
      if call.state == 'lost' and call[period[1]] == period[2] then
        for _, field in ipairs({ 'lost', 'lost@' .. call.machine }) do
          lost[field] = (lost[field] or 0) + call.most
        end
        lost['lost${REVEALS}'] = (lost['lost${REVEALS}'] or 0) + (call.reveals or 0)
      end
    end
    for field, count in pairs(lost) do redis.call('HSET', sum, field, count) end
  end
end
local used = usedMonth == thisMonth and tonumber(unitsUsed) or 0
local base = tonumber(redis.call('HGET', day, 'base'))
if not base then
  base = startDay == thisDay and tonumber(startUnits) or math.max(0, used - number(day, 'spent'))
  redis.call('HSET', day, 'base', base)
end
local reservedNow, _, revealed = reservations('')
local reserved = reservedBefore == '' and reservedNow or tonumber(reservedBefore)
local function atLeast(sum, count, of, held)
  local covered = restarted and 0 or held + number(sum, 'lost' .. of)
  local spent = math.max(number(sum, 'spent' .. of), count - covered)
  redis.call('HSET', sum, 'spent' .. of, spent, 'boot', boot)
  redis.call('PEXPIRE', sum, LIFE)
end
atLeast(month, used, '', reserved)
atLeast(day, used - base, '', reserved)
-- The service does not say how many of them are of this day.
local usedReveals = usedMonth == thisMonth and tonumber(revealsUsed) or 0
atLeast(month, usedReveals, '${REVEALS}', revealed)
redis.call('HSET', month, 'seeded', now)
return { 'ok', base }`,
});

/**
 * Hands the spending of one API key to another: budgets that it does not have, what was spent or
 * lost, and the reservations of the machine. It can run again, when more was spent with the former
 * key: a field that names it has what was handed over so far. If the sums of the new key follow the
 * service's count, or were handed to the former key once, these sums may include each other, so the
 * larger one counts.
 */
const handOver = script('handOver', {
  keys: [
    ...['caps', 'open', 'calls', 'month', 'day', 'moved'],
    ...['capsFrom', 'openFrom', 'callsFrom', 'monthFrom', 'dayFrom', 'movedFrom'],
  ] as const,
  args: ['machine', 'from', 'to'],
  body: `
local LIFE = 62 * 86400000
redis.call('SET', movedFrom, 1, 'PX', LIFE)
redis.call('DEL', moved)
local list = redis.call('HGETALL', capsFrom)
for at = 1, #list, 2 do redis.call('HSETNX', caps, list[at], list[at + 1]) end

local function amount(key, text)
  local value = tonumber(text or 0)
  if not value or value - value ~= 0 then error({ err = 'DAMAGED ' .. key }) end
  return value
end
local function handSum(former, sum)
  local totals = {}
  local fields = redis.call('HGETALL', former)
  for at = 1, #fields, 2 do
    local of = string.match(fields[at], '^spent(.*)$') or string.match(fields[at], '^lost(.*)$')
    if of then totals[of] = (totals[of] or 0) + amount(former, fields[at + 1]) end
  end
  for of, total in pairs(totals) do
    local handed = redis.call('HGET', sum, 'from:' .. from .. of)
    local spent = amount(sum, redis.call('HGET', sum, 'spent' .. of))
    local isCounted = redis.call('HEXISTS', sum, 'boot') == 1 and not handed
    if isCounted or redis.call('HEXISTS', former, 'from:' .. to .. of) == 1 then
      spent = math.max(spent, total)
    else
      spent = spent + total - amount(sum, handed)
    end
    redis.call('HSET', sum, 'spent' .. of, spent, 'from:' .. from .. of, total)
    redis.call('PEXPIRE', sum, LIFE)
  end
end
handSum(monthFrom, month)
handSum(dayFrom, day)

local reserved = redis.call('ZRANGE', openFrom, 0, -1, 'WITHSCORES')
for at = 1, #reserved, 2 do
  local text = redis.call('HGET', callsFrom, reserved[at])
  local call = text and cjson.decode(text) or {}
  if call.machine == machine and call.state == 'open' then
    redis.call('ZADD', open, reserved[at + 1], reserved[at])
    redis.call('HSET', calls, reserved[at], text)
    redis.call('ZREM', openFrom, reserved[at])
    redis.call('HDEL', callsFrom, reserved[at])
  end
end`,
});

export const spendingScripts = { begin, handOver, removeBudget, settle, release, reseed };
