import { createHash } from 'node:crypto';

export type RedisArgument = string | number | Buffer;

export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** A script with its keys and arguments, as `StoreConnection.run` takes it. */
export type ScriptCall = [script: Script, keys: string[], args: RedisArgument[]];

/** A script whose keys and arguments have names, in Lua and here. */
export interface NamedScript<Key extends string, Arg extends string> extends Script {
  /** `rest` are the arguments after the named ones, from `REST` on. */
  with(
    keys: Readonly<Record<Key, string>>,
    args: Readonly<Record<Arg, RedisArgument>>,
    rest?: readonly RedisArgument[],
  ): ScriptCall;
}

interface ScriptParts<Key extends string, Arg extends string> {
  readonly keys: readonly Key[];
  readonly args: readonly Arg[];
  /**
   * Whether it frees memory, renews a lease or records costs, so that a full server runs it too.
   */
  readonly frees?: boolean;
  readonly body: string;
}

/** The server's clock in ms is the only clock that all machines share. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** Makes a script. Its shebang makes a full server reject it as a whole. */
export function script<const Key extends string, const Arg extends string>(
  name: string,
  { keys, args, frees = false, body }: ScriptParts<Key, Arg>,
): NamedScript<Key, Arg> {
  const shebang = `#!lua${frees ? ' flags=allow-oom' : ''}`;
  const names = [locals(keys, 'KEYS'), locals(args, 'ARGV'), `local REST = ${args.length + 1}`];
  const text = `${shebang}${NOW}\n${names.join('\n')}\n${body.trim()}\n`;
  return {
    name,
    text,
    sha: createHash('sha1').update(text).digest('hex'),
    with(keyOf, argOf, rest = []) {
      return [this, keys.map((key) => keyOf[key]), [...args.map((arg) => argOf[arg]), ...rest]];
    },
  };
}

/** `local lease, stream = KEYS[1], KEYS[2]`. */
const locals = (names: readonly string[], list: 'KEYS' | 'ARGV'): string =>
  `local ${names.join(', ')} = ${names.map((_, at) => `${list}[${at + 1}]`).join(', ')}`;
