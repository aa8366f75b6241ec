import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { pageIn, type RawRequest, withCursor } from '../../core/client/raw-request.ts';
import { readRaw } from '../../core/client/read-raw.ts';
import { OTHER_SERVER, readServiceError } from '../../core/client/service-errors.ts';
import { pageRow } from '../../core/pages/post.ts';
import { readPages } from '../../core/pages/read-pages.ts';
import type { AskedPage } from '../../core/pages/source.ts';
import type { Plan } from '../../core/spend/plan.ts';
import type { Sink } from '../../output/sink.ts';
import type { Context } from '../run/context.ts';
import { continueList, hintToContinue } from '../run/continue-command.ts';
import type { CommandJob } from '../run/job.ts';
import type { Out } from '../run/out.ts';

interface RawFlags {
  /** The path as the user wrote it. */
  readonly typed: string;
  readonly include: boolean;
  readonly paginate: boolean;
}

/**
 * A raw request, or with --paginate a page after the other: prints the bodies as the service sent
 * them.
 */
export function apiJob(context: Context, request: RawRequest, flags: RawFlags): CommandJob {
  return {
    plan: apiPlan(request, flags.paginate),
    async print(out) {
      const bodies = await openBodies(context, out, flags);
      const pages = new RawPages(context, request, flags.paginate);
      try {
        if (flags.paginate) await pages.printAll(bodies);
        else await bodies.write(await pages.request());
      } catch (error) {
        if (pages.refused) await bodies.write(pages.refused);
        if (pages.at === request.path) throw error;
        throw hintToContinue(error, () => continuedCall(context, flags.typed, pages.at));
      }
      await bodies.end();
    },
  };
}

/** The price of an unknown path, or of a request that the endpoint would reject, is not known. */
function apiPlan(request: RawRequest, paginate: boolean): Plan {
  const { method, body } = request;
  const { path, id, call, bounds } = readRaw(method, request.path, body);
  const name = `${method} ${path.split('?')[0]}`;
  const isEndless = paginate && bounds?.most !== 0;
  const why = id ? 'does not accept this request' : 'is not an endpoint known to trdr';
  return {
    calls: [{ name: call?.id ?? name, method, path, body, bounds, times: isEndless ? null : 1 }],
    unpriced: bounds === undefined ? `${name} ${why}` : undefined,
    costs: (cost) => `This call will cost ${cost}`,
    tellsLimit: true,
    stopped: (spent) => ({ message: `stopped after ${spent}; there are more pages` }),
  };
}

/** The path decides on the size of the pages. */
const ONE_SIZE = { step: 1, max: 1 };

const EMPTY = { items: [], hasMore: false, nextBefore: null };

/**
 * The command that continues with the page at `path`, which already contains the values of the
 * flags -f and --field.
 */
function continuedCall({ terminal, settings }: Context, typed: string, path: string): string {
  const { argv, cwd } = terminal.io;
  const changed = argv.map((word) => (word === typed ? path : word));
  const without = { '-f': undefined, '--field': undefined };
  return continueList({ argv: changed, cwd }, settings.flags.out, without);
}

/** The requests of a run, and where it is. */
class RawPages {
  /** The path of the next page. */
  at: string;
  /** The last answer, if it is an error or no page. It is printed although the run fails. */
  refused: HttpAnswer | undefined;
  readonly #context: Context;
  readonly #request: RawRequest;
  readonly #paginate: boolean;

  constructor(context: Context, request: RawRequest, paginate: boolean) {
    this.at = request.path;
    this.#context = context;
    this.#request = request;
    this.#paginate = paginate;
  }

  async request(): Promise<HttpAnswer> {
    return (await this.#page(undefined)).answer;
  }

  async printAll(bodies: Bodies): Promise<void> {
    const { io, signal } = this.#context.terminal;
    const source = { page: (ask: AskedPage) => this.#page(ask.before), sizes: ONE_SIZE };
    for await (const { page, next } of readPages(source, { clock: io.clock, signal })) {
      await bodies.write(page.answer);
      if (next !== undefined) this.at = withCursor(this.#request.path, next);
    }
  }

  async #page(before: string | undefined) {
    const { terminal, service } = this.#context;
    const { path: first, method, body } = this.#request;
    const path = before === undefined ? first : withCursor(first, before);
    const client = await service.client();
    const answer = await client.raw({ ...this.#request, path }, { signal: terminal.signal });
    const page = pageIn(answer);
    // The first answer may be a record, but a page is followed by a page.
    const isRecord = before === undefined && parseJson(answer.text) !== undefined;
    // What an unknown path answers is not known either.
    const isKnown = this.#paginate || readRaw(method, first, body).bounds !== undefined;
    const isOdd = isKnown && !page && !isRecord;
    this.refused = answer.status >= 300 || isOdd ? answer : undefined;
    if (answer.status >= 300) throw refusalOf(answer, terminal.io.clock);
    if (isOdd) throw badAnswer(method, path, this.#paginate ? 'a page' : 'JSON');
    const { items, hasMore, nextBefore } = page ?? EMPTY;
    return { rows: items.map((item) => pageRow(item, '')), hasMore, nextBefore, answer };
  }
}

interface Bodies {
  write(answer: HttpAnswer): Promise<void>;
  end(): Promise<unknown>;
}

/** Opens the output before the call, so that nothing is paid for if it cannot be written. */
async function openBodies(
  { terminal, settings }: Context,
  out: Out,
  { include, paginate }: RawFlags,
): Promise<Bodies> {
  const isFile = settings.flags.out !== undefined;
  const isTerminal = terminal.io.stdout.isTTY === true && !isFile;
  const sink: Sink = await out.open();
  return {
    async write({ status, headers, text }) {
      if (status >= 300 && isFile) return;
      const { headText, shownBody } = await import('../../output/raw-body.ts');
      if (include) {
        const { STATUS_CODES } = await import('node:http');
        await sink.write(headText(status, STATUS_CODES[status] ?? '', headers, isTerminal));
      }
      if (isTerminal) await sink.write(shownBody(text));
      else await sink.write(paginate && !text.endsWith('\n') ? `${text}\n` : text);
    },
    end: () => sink.finish('complete'),
  };
}

const badAnswer = (method: string, path: string, kind: string) =>
  new Failure('answer', `the answer of ${method} ${path} is not ${kind}`, {
    code: 'BAD_ANSWER',
    hint: OTHER_SERVER,
  });

const refusalOf = (answer: HttpAnswer, { now }: Pick<Clock, 'now'>): Failure =>
  readServiceError(answer, parseJson(answer.text), now()).failure;
