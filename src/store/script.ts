import { createHash } from 'node:crypto';

/** A Lua script, called by its digest. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** Milliseconds of the server's clock: the only clock that all machines share. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Makes a script. The shebang matters: a full server rejects such a script as a whole, while a script
 * without one may exceed the memory limit. `frees` marks scripts that only free memory or settle calls,
 * which must work on a full server.
 */
export function script(name: string, body: string, { frees = false } = {}): Script {
  const text = `#!lua${frees ? ' flags=allow-oom' : ''}${NOW}\n${body.trim()}\n`;
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}
