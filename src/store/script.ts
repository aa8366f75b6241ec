import { createHash } from 'node:crypto';

export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/** The server's clock in ms is the only clock that all machines share. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * With the shebang, a full server rejects a script as a whole. `frees`: it frees memory, renews a
 * lease or records costs.
 */
export function script(name: string, body: string, { frees = false } = {}): Script {
  const text = `#!lua${frees ? ' flags=allow-oom' : ''}${NOW}\n${body.trim()}\n`;
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}
