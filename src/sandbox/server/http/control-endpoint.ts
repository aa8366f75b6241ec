import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure } from '../../../base/failure.ts';
import type { Verb } from '../control.ts';
import { jsonAnswer } from './api.ts';
import { readBody } from './request-body.ts';
import { respond } from './response.ts';

export const CONTROL_PATH = '/_sandbox';

/** Serves the verbs of a sandbox to its own machine: `POST /_sandbox/<verb>` with a JSON object. */
export async function serveControl(
  verbs: Readonly<Record<string, Pick<Verb<unknown, unknown>, 'take'>>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, body: unknown) => respond(response, jsonAnswer(status, body), []);
  const wrong = (status: number, message: string) => say(status, { error: { code: 'CONTROL', message } });
  // A page can make a browser fetch an image from here, which does not say where it comes from.
  if (request.method !== 'POST') return wrong(405, 'A verb is a POST.');
  if (!isLocal(request)) return wrong(403, 'Only this machine may control the sandbox.');
  const name = (request.url ?? '').slice(CONTROL_PATH.length + 1).split('?')[0] ?? '';
  const known = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!known) return wrong(404, `The verbs are ${Object.keys(verbs).join(', ')}.`);
  const body = await readBody(request);
  try {
    const taken = known.take(parse(body ?? ''));
    if ('wrong' in taken) return wrong(400, taken.wrong);
    say(200, (await taken.done) ?? null);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    wrong(400, error.message);
  }
}

/** From loopback, by its name, and by no web page: of a POST a browser says where it comes from. */
function isLocal(request: IncomingMessage): boolean {
  const address = request.socket.remoteAddress ?? '';
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  const near = /^(::ffff:)?127\./.test(address) || address === '::1';
  return near && request.headers.origin === undefined && /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);
}

function parse(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
