import { listReply } from '../replies.ts';
import { script } from '../script.ts';

/**
 * Adds posts and saves a position in one step, so that no crash leaves a position above its posts.
 * Does nothing without the lease. The position, its verified time and its stream entry may be
 * empty. After the named arguments: id, time and body of each post. Returns what `readPublished`
 * reads.
 */
const publish = script('publish', {
  keys: ['lease', 'stream', 'mark', 'info'],
  args: ['token', 'position', 'verifiedTo', 'entry', 'keepMs', 'keepRows'],
  body: `
if redis.call('GET', lease) ~= token then return { 'fenced' } end
local last, before = '', redis.call('HGET', info, 'last') or ''
local verified = redis.call('HGET', info, 'floor') or ''
for at = REST, #ARGV, 3 do
  -- With the post before it, a follower sees whether entries between two reads were lost, and with
  -- the verified time, which posts they may be: a leader publishes frames before it has read the
  -- older posts from pages.
  local fields = {
    'id', ARGV[at], 'at', ARGV[at + 1], 'body', ARGV[at + 2],
    'prev', before, 'verified', verified,
  }
  last, before = redis.call('XADD', stream, '*', unpack(fields)), ARGV[at]
end
if position ~= '' then
  redis.call('SET', mark, position)
  redis.call('HSET', info, 'entry', entry)
end
if verifiedTo ~= '' then redis.call('HSET', info, 'floor', verifiedTo) end
if last ~= '' then
  redis.call('XTRIM', stream, 'MAXLEN', '~', keepRows)
  redis.call('XTRIM', stream, 'MINID', '~', math.max(0, now - tonumber(keepMs)))
  redis.call('HSET', info, 'published', now)
  redis.call('HSET', info, 'last', before)
end
return { 'ok', last, before }`,
});

/**
 * Begins a stream. Its first entry names the last post of the former stream, or this beginning;
 * `born` marks it as another stream.
 */
const beginFeed = script('beginFeed', {
  keys: ['lease', 'mark', 'info'],
  args: ['token', 'position', 'last'],
  body: `
if redis.call('GET', lease) ~= token then return 0 end
if position ~= '' then redis.call('SET', mark, position) end
redis.call('HSET', info, 'born', token)
redis.call('HSET', info, 'last', last ~= '' and last or 'born:' .. token)
return 1`,
});

/** Lists entries without their bodies, newest first. Returns what `readList` reads. */
const listEntries = script('listEntries', {
  keys: ['stream'],
  args: ['start', 'count'],
  body: `
local flat = { '' }
for _, pair in ipairs(redis.call('XREVRANGE', stream, start, '-', 'COUNT', count)) do
  local field = {}
  for at = 1, #pair[2], 2 do field[pair[2][at]] = pair[2][at + 1] end
  flat[1] = pair[1]
  if field.id and field.body then
    for _, one in ipairs({ pair[1], field.id, field.at or '' }) do flat[#flat + 1] = one end
  end
end
return flat`,
});

/**
 * Renews the lease and saves the fields and values after the named arguments. Returns 0 if the
 * leader has lost the lease.
 */
const report = script('report', {
  keys: ['lease', 'info'],
  args: ['token', 'leaseMs'],
  frees: true,
  body: `
if redis.call('GET', lease) ~= token then return 0 end
redis.call('PEXPIRE', lease, leaseMs)
for at = REST, #ARGV, 2 do redis.call('HSET', info, ARGV[at], ARGV[at + 1]) end
redis.call('HSET', info, 'renewed', now)
return 1`,
});

/** The answer of `publish`; undefined if the leader has lost its lease. */
export interface Published {
  /** The last new entry; empty if there were no posts. */
  readonly entry: string;
  /** The last post that any leader has published. */
  readonly last: string;
}

export function readPublished(reply: unknown): Published | undefined {
  const [word, entry, last] = listReply(reply);
  return word === 'ok' ? { entry: String(entry), last: String(last) } : undefined;
}

/** The answer of `listEntries`. */
export interface EntryList {
  /** The oldest entry that was read; empty if there was none. */
  readonly oldest: string;
  readonly posts: readonly ListedPost[];
}

export interface ListedPost {
  readonly entry: string;
  readonly id: string;
  /** The time as in the store; empty if the post has none. */
  readonly time: string;
}

export function readList(reply: unknown): EntryList {
  const [oldest = '', ...flat] = listReply(reply).map(String);
  const posts: ListedPost[] = [];
  for (let at = 0; at + 2 < flat.length; at += 3) {
    const [entry = '', id = '', time = ''] = flat.slice(at, at + 3);
    posts.push({ entry, id, time });
  }
  return { oldest, posts };
}

export const feedScripts = { publish, beginFeed, listEntries, report };
