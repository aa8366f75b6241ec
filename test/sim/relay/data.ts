import type { Reply } from './lua.ts';

/** An entry of a stream. */
interface Entry {
  readonly ms: number;
  readonly count: number;
  readonly fields: readonly string[];
}

/** A write with all its values, which can be repeated on another server. */
interface Write {
  readonly at: number;
  readonly name: string;
  readonly args: readonly string[];
}

interface Text {
  readonly text: string;
  readonly endsAt: number;
}

const never = Number.POSITIVE_INFINITY;
const idOf = ({ ms, count }: Entry) => `${ms}-${count}`;
const entryReply = (entry: Entry): Reply => [idOf(entry), entry.fields];

/** The data of one server, and the commands that relays and followers use. */
export type Data = ReturnType<typeof createData>;

/** The data of a server after these writes. `clock` is the clock of that server, in ms. */
export function createData(clock: () => number, from: readonly (readonly Write[])[] = []) {
  const texts = new Map<string, Text>();
  const hashes = new Map<string, Map<string, string>>();
  const streams = new Map<string, Entry[]>();
  /** All writes, one list for each command or script. */
  const log: (readonly Write[])[] = [];
  let group: Write[] | undefined;

  const textAt = (key: string): Text | undefined => {
    const found = texts.get(key);
    return found && found.endsAt > clock() ? found : undefined;
  };
  const get = <V>(map: Map<string, V>, key: string, make: () => V): V => {
    const value = map.get(key) ?? make();
    map.set(key, value);
    return value;
  };

  /** Applies a write, which already contains the values that depend on the clock or on chance. */
  const apply = ({ name, args }: Write): void => {
    const [key = '', ...rest] = args;
    if (name === 'SET') texts.set(key, { text: rest[0] ?? '', endsAt: Number(rest[1] ?? never) });
    if (name === 'DEL') for (const map of [texts, hashes, streams]) map.delete(key);
    if (name === 'HSET') get(hashes, key, () => new Map()).set(rest[0] ?? '', rest[1] ?? '');
    if (name === 'XDEL') {
      const left = (streams.get(key) ?? []).filter((entry) => !rest.includes(idOf(entry)));
      streams.set(key, left);
    }
    if (name === 'XADD') {
      const [ms = 0, count = 0, ...fields] = rest;
      get(streams, key, () => []).push({
        ms: Number(ms),
        count: Number(count),
        fields: fields.map(String),
      });
    }
  };

  const write = (name: string, ...args: readonly (string | number)[]) => {
    const one: Write = { at: clock(), name, args: args.map(String) };
    apply(one);
    if (group) group.push(one);
    else log.push([one]);
  };
  const lastOf = (key: string): Entry =>
    streams.get(key)?.at(-1) ?? { ms: 0, count: 0, fields: [] };

  const commands: Readonly<Record<string, (args: readonly string[]) => Reply>> = {
    // With ".0", Lua calculates with doubles; integers of this Lua have only 32 bits.
    TIME: () => [`${Math.floor(clock() / 1_000)}.0`, String(Math.floor((clock() % 1_000) * 1_000))],
    GET: ([key = '']) => textAt(key)?.text ?? null,
    PTTL([key = '']) {
      const found = textAt(key);
      return found ? (found.endsAt === never ? -1 : Math.ceil(found.endsAt - clock())) : -2;
    },
    SET([key = '', text = '', px, ms]) {
      if (px === undefined) write('SET', key, text);
      else write('SET', key, text, clock() + Number(ms));
      return 'OK';
    },
    PEXPIRE([key = '', ms]) {
      const found = textAt(key);
      if (!found) return 0;
      write('SET', key, found.text, clock() + Number(ms));
      return 1;
    },
    DEL([key = '']) {
      write('DEL', key);
      return 1;
    },
    INCR([key = '']) {
      const next = Number(textAt(key)?.text ?? 0) + 1;
      write('SET', key, next);
      return next;
    },
    SADD: () => 1,
    EXISTS: ([key = '']) => (textAt(key) ? 1 : 0),
    HGETALL: ([key = '']) => [...(hashes.get(key) ?? [])].flat(),
    HGET: ([key = '', field = '']) => hashes.get(key)?.get(field) ?? null,
    HSET([key = '', field = '', value = '']) {
      write('HSET', key, field, value);
      return 1;
    },
    XADD([key = '', , ...fields]) {
      const last = lastOf(key);
      const ms = Math.max(last.ms, Math.floor(clock()));
      const entry = { ms, count: ms === last.ms ? last.count + 1 : 0, fields };
      write('XADD', key, ms, entry.count, ...fields);
      return idOf(entry);
    },
    XTRIM: () => 0,
    XDEL([key = '', ...ids]) {
      write('XDEL', key, ...ids);
      return ids.length;
    },
    XRANGE([key = '', from = '-', to = '+', , count]) {
      const rows = (streams.get(key) ?? []).filter(
        (entry) => isFrom(entry, from) && isTo(entry, to),
      );
      return rows.slice(0, Number(count ?? rows.length)).map(entryReply);
    },
    XREVRANGE([key = '', from = '+', , , count]) {
      const isBelow = (entry: Entry) => from === '+' || compare(entry, from.slice(1)) < 0;
      const rows = (streams.get(key) ?? []).filter(isBelow).toReversed();
      return rows.slice(0, Number(count ?? rows.length)).map(entryReply);
    },
    XREAD(words) {
      const [key = '', after = ''] = words.slice(-2);
      const entries = streams.get(key) ?? [];
      const rows = entries.slice(entries.findLastIndex((entry) => compare(entry, after) <= 0) + 1);
      return rows.length === 0 ? null : [[key, rows.slice(0, Number(words[1])).map(entryReply)]];
    },
  };

  for (const writes of from) {
    log.push(writes);
    for (const one of writes) apply(one);
  }

  return {
    command(name: string, args: readonly string[]): Reply {
      const work = commands[name];
      if (!work) throw new Error(`the model has no command ${name}`);
      return work(args);
    },
    log,
    /** Groups the writes of a script, which are atomic. */
    atomically<T>(work: () => T): T {
      group = [];
      try {
        return work();
      } finally {
        if (group.length > 0) log.push(group);
        group = undefined;
      }
    },
    entries: (stream: string): readonly Entry[] => streams.get(stream) ?? [],
  };
}

function compare(entry: Entry, text: string): number {
  const [ms = 0, count = 0] = text.split('-').map(Number);
  return entry.ms - ms || entry.count - count;
}

function isFrom(entry: Entry, from: string): boolean {
  if (from === '-') return true;
  return from.startsWith('(') ? compare(entry, from.slice(1)) > 0 : compare(entry, from) >= 0;
}

const isTo = (entry: Entry, to: string): boolean => to === '+' || compare(entry, to) <= 0;
