import { listReply, number } from '../replies.ts';
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
 * Reads an answer or the failure of another machine, or claims the answer. `damaged` is what the
 * caller could not read, which is replaced. Returns what `readClaim` reads.
 */
const ask = script('ask', {
  keys: ['answer', 'claimKey'],
  args: ['token', 'maxAgeMs', 'missAgeMs', 'claimMs', 'damaged'],
  body: `${READ}
local entry = read('HMGET', answer, 'status', 'time', 'record', 'seal') or {}
if entry[4] and entry[4] == damaged then
  -- Deletes the damaged answer, so that only one machine requests it again.
  redis.call('DEL', answer)
  entry = {}
end
if entry[1] and entry[2] and entry[4] then
  local age = now - (tonumber(entry[2]) or 0)
  local limit = tonumber(entry[1] == '200' and maxAgeMs or missAgeMs)
  -- Allows times slightly in the future, because the clock of the server steps, or differs after
  -- a failover.
  if age < limit and age > -60000 then
    return { 'hit', entry[1], entry[2], entry[3] or '', entry[4], age }
  end
end
local claim = read('GET', claimKey)
if claim == damaged then claim = nil end
if claim and string.sub(claim, 1, 1) == '!' then return { 'failed', string.sub(claim, 2) } end
if claim and claim ~= token then return { 'wait' } end
redis.call('SET', claimKey, token, 'PX', claimMs)
return { 'lead' }`,
});

/** Saves an answer and ends its claim. An older answer never replaces a newer one. */
const fill = script('fill', {
  keys: ['answer', 'claimKey'],
  args: ['token', 'keepMs', 'status', 'answeredAt', 'record', 'seal'],
  body: `${READ}
local old = tonumber(read('HGET', answer, 'time') or '')
local isNewer = old and old > tonumber(answeredAt) and old <= now + 60000
if not isNewer then
  redis.call('HSET', answer, 'status', status, 'time', answeredAt, 'record', record, 'seal', seal)
  redis.call('PEXPIRE', answer, keepMs)
end
if read('GET', claimKey) == token then redis.call('DEL', claimKey) end
return 1`,
});

/** Ends a claim without an answer. The failure is shared for `shareMs`; 0 shares nothing. */
const fail = script('fail', {
  keys: ['claimKey'],
  args: ['token', 'failure', 'shareMs'],
  frees: true,
  body: `${READ}
if read('GET', claimKey) ~= token then return 0 end
if tonumber(shareMs) > 0 then
  redis.call('SET', claimKey, '!' .. failure, 'PX', shareMs)
else
  redis.call('DEL', claimKey)
end
return 1`,
});

/** An answer as it is in the store. Its signature covers the other texts. */
export interface SealedAnswer {
  readonly status: string;
  /** The time of the answer by the server's clock. */
  readonly time: string;
  readonly record: string;
  readonly seal: string;
}

/** The answer of `ask`. */
export type ClaimReply =
  | { readonly is: 'answered'; readonly answer: SealedAnswer; readonly ageMs: number }
  | { readonly is: 'failed'; readonly failure: string }
  /** Another machine is requesting the answer. */
  | { readonly is: 'claimed' }
  /** The caller must request the answer. */
  | { readonly is: 'ours' };

export function readClaim(reply: unknown): ClaimReply {
  const [word, ...rest] = listReply(reply);
  const [status = '', time = '', record = '', seal = '', age] = rest.map(String);
  switch (word) {
    case 'hit':
      return {
        is: 'answered',
        answer: { status, time, record, seal },
        ageMs: Math.max(0, number(age)),
      };
    case 'failed':
      return { is: 'failed', failure: status };
    case 'wait':
      return { is: 'claimed' };
    default:
      // Also if the store could not be asked.
      return { is: 'ours' };
  }
}

export const answerScripts = { ask, fill, fail };
