import { createHash } from 'node:crypto';

/** A Lua script, run by its digest. */
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
 * Makes a script. The shebang matters: a script with one is refused as a whole when the server is full,
 * while one without is let through and grows past the limit. `frees` marks scripts that only free
 * or settle, which must work on a full server.
 */
export function script(name: string, body: string, { frees = false } = {}): Script {
  const text = `#!lua${frees ? ' flags=allow-oom' : ''}${NOW}\n${body.trim()}\n`;
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}
