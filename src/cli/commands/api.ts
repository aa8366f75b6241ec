import { usageError } from '../../base/failure.ts';
import { isKey, keyAsSubject } from '../../core/client/mask-key.ts';
import { type Field, rawRequest } from '../../core/client/raw-request.ts';
import { readAll } from '../../input/read-text.ts';
import { excluding, flag, list, value } from '../args/option.ts';
import { file, outFile } from '../args/values.ts';
import { command } from '../command.ts';
import type { Context } from '../run/context.ts';
import { runJob } from '../run/job.ts';
import page from './api.md';
import { apiJob } from './api-job.ts';

const field = {
  name: 'name=value',
  noun: 'field',
  hasCommas: true,
  hint: 'write it as -f limit=50',
  read(text: string): Field | undefined {
    const at = text.indexOf('=');
    if (at < 1) return undefined;
    return { name: text.slice(0, at), value: text.slice(at + 1) };
  },
};

/**
 * The maximum size of a request body from stdin in bytes, so that endless input does not fill the
 * memory.
 */
const LARGEST = 16 * 1024 * 1024;

export const api = command({
  path: 'api',
  page,
  usage: '[method] <path>',
  args: [
    {
      name: 'method',
      help: 'HTTP method [GET]',
      optional: true,
      choices: ['GET', 'POST'],
    },
    {
      name: 'path',
      help: 'path of the endpoint, such as /v2/me',
      optional: true,
      complete: 'path',
    },
  ],
  options: {
    field: list('-f, --field', 'field of the query or of the JSON body', field),
    input: value('--input', 'send FILE as the request body (- for stdin)', file),
    include: flag('-i, --include', 'print the status line and the headers too'),
    paginate: excluding(flag('--paginate', 'fetch all pages'), '--input'),
    out: value('--out', 'write to FILE, which appears when the run ends', outFile),
  },
  common: ['service', 'money'],
  exits: [3, 129, 130, 143],
  parse(words, { field: fields, input, include, paginate }) {
    const [path = '', verb] = [...words].reverse();
    const method = verb?.toUpperCase();
    if (method !== undefined && !/^[A-Z]{1,20}$/.test(method)) {
      throw usageError(
        `invalid HTTP method "${verb}"`,
        'put the method before the path: trdr api POST /v2/...',
      );
    }
    // Commander cannot require an argument behind an optional one.
    if (words.length === 0 || (words.length === 1 && /^[A-Z]+$/.test(path)))
      throw usageError(
        "missing required argument 'path'",
        `write it like this: trdr api ${path || 'GET'} /v2/me`,
      );
    const [, , ofUrl] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is.exec(path) ?? [];
    if (ofUrl !== undefined) {
      throw usageError(
        'expected a path, got a URL',
        `remove the host: trdr api ${ofUrl || '/v2/...'}; use --base-url for a different service`,
      );
    }
    if (/^[A-Z]+ \//i.test(path)) {
      throw usageError(
        'expected a path, got a method and a path in one argument',
        `remove the quotes: trdr api ${path}`,
      );
    }
    const named = fields.flatMap(({ name, value }) => (name === 'before' ? [] : [value]));
    const pasted = [...(path.split('?')[0] ?? '').split('/'), ...named].find((word) => isKey(word));
    if (pasted !== undefined) throw keyAsSubject(pasted);
    if (paginate && (method ?? 'GET') !== 'GET')
      throw usageError('--paginate requires GET', 'remove --paginate, or the method');
    return {
      method,
      typed: path,
      path: path.startsWith('/') ? path : `/${path}`,
      fields,
      input,
      include,
      paginate,
    };
  },
  async run(context, { input, include, paginate, ...call }) {
    const body = input === undefined ? undefined : await bodyFrom(context, input);
    const request = rawRequest({ ...call, input: body });
    const { typed } = call;
    const job = apiJob(context, request, { typed, include, paginate });
    return await runJob(job, context);
  },
});

const bodyFrom = ({ terminal }: Context, input: string) =>
  readAll(terminal.io, input === '-' ? LARGEST : Number.POSITIVE_INFINITY, terminal.signal, input);
