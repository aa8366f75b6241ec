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
 * Creates a script. With the shebang, a full server rejects the script before it runs. Without the shebang,
 * the script could exceed the memory limit. `frees` marks scripts that must also run on a full server,
 * because they free memory, renew a lease or record costs.
 */
export function script(name: string, body: string, { frees = false } = {}): Script {
  const text = `#!lua${frees ? ' flags=allow-oom' : ''}${NOW}\n${body.trim()}\n`;
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}
