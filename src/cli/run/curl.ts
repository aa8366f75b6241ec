import { quoted } from '../../base/shell-word.ts';
import { type KeyHeader, requestHeaders } from '../../core/client/channel.ts';
import { withoutKey, withoutKeys } from '../../core/client/mask-key.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import { PLACEHOLDER, type Planned } from '../../core/spend/plan.ts';
import { version } from '../version.ts';
import type { Context } from './context.ts';
import { requestOf } from './print-plan.ts';

/** The shell inserts the key when the line runs, so that no line contains it. */
const KEY = '$TRDR_API_KEY';

/** Prints the calls of a dry run as command lines of curl, which send what trdr would send. */
export async function printCurl(
  { settings, out }: Pick<Context, 'settings' | 'out'>,
  calls: Iterable<Planned>,
): Promise<void> {
  const { baseUrl, insecureHttp, flags, key, keyHeader } = settings;
  const isKnown = baseUrl !== undefined && !flags.sandbox;
  const { origin, prefix } = isKnown ? parseBaseUrl(baseUrl, { insecureHttp }) : unknownBase;
  const base = isKnown ? quoted(`${origin}${prefix}`) : '"$TRDR_BASE_URL"';
  const sink = await out.open();
  for (const planned of calls) {
    const text = withoutKeys(withoutKey(linesOf(planned, base, keyHeader), key.present));
    await sink.write(`${text}\n`);
  }
  await sink.finish('complete');
}

const unknownBase = { origin: '', prefix: '' };

/** The line of a call, below a comment if it is not sent exactly once. */
function linesOf(planned: Planned, base: string, keyHeader: KeyHeader): string {
  const { method, path, body } = requestOf(planned);
  const { times = 1, perMinute } = planned;
  if ('id' in planned && planned.id === 'ws')
    return `# ${method} ${path} is a WebSocket, which curl does not follow`;
  if (times === 0) return `# ${method} ${path} is not sent, because its answer is cached`;
  if (planned.standsFor !== undefined)
    return `# ${method} ${path} is not sent: it stands for ${planned.standsFor}`;
  if (path.includes(PLACEHOLDER))
    return `# ${method} ${path} is not sent: the run replaces ${PLACEHOLDER} by what it looks up`;
  const headers = Object.entries(requestHeaders(body, KEY, `trdr/${version}`, keyHeader)).map(
    ([name, value]) => `-H ${headerWord(`${name}: ${value}`)}`,
  );
  // Without these flags, curl would read brackets as a pattern, and remove dots from the path.
  const words = ['curl -sS --globoff --path-as-is', `-X ${quoted(method)}`, ...headers];
  if (body !== undefined) words.push(`--data-raw ${quoted(body)}`);
  const line = [...words, base + quoted(path)].join(' ');
  const comment = repetition(times, perMinute);
  return comment === undefined ? line : `# ${comment}\n${line}`;
}

const headerWord = (header: string) => (header.includes(KEY) ? `"${header}"` : quoted(header));

function repetition(times: number | null, perMinute: number | undefined): string | undefined {
  if (perMinute !== undefined) return `repeated up to ${perMinute} times a minute`;
  if (times === null) return 'repeated for each further page';
  return times === 1 ? undefined : `repeated, up to ${times} times in total`;
}
