import { openPromise } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { isRecord, plainJson } from '../../base/json-object.ts';
import { unitsText } from '../../base/units.ts';
import { leftIn, raiseBudgetText } from '../../contract/budget.ts';
import { endpoints, OPENAPI_PATH, SOCKET_PATH } from '../../contract/endpoints.ts';
import { ServerFrame } from '../../contract/frames.ts';
import { cu } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import type { HttpAnswer } from '../../contract/ports/transport.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { compareDescriptions } from '../../core/compare-descriptions.ts';
import { keyKind } from '../../state/config/profile.ts';
import { openDifferenceLog } from '../run/connect.ts';
import type { Context } from '../run/context.ts';
import { SECRET_COMMAND } from '../settings/secret-command.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';
import {
  attempt,
  type Check,
  failedCheck,
  judgeAnswers,
  judgeClock,
  judgeDrift,
  judgeLimits,
  passed,
  skip,
  warn,
} from './judge.ts';

/**
 * Runs the checks in order. Without a client, or if another server answers, most of them are
 * skipped.
 */
export async function* probe(context: Context, ws: boolean): AsyncGenerator<Check> {
  yield* settingsChecks(context);
  const asking = ['reach', 'clock', 'key', 'limits', 'drift', ...(ws ? ['socket'] : [])];
  const client = await attempt(() => context.service.client());
  if (client instanceof Failure) {
    const failed = checkOf(client, context.settings.key.present !== undefined);
    yield failedCheck(failed, client);
    return yield* skipped(asking.filter((check) => check !== failed));
  }
  const { clock } = context.terminal.io;
  const [askedAt, started] = [clock.now(), clock.mono()];
  const described = await attempt(() =>
    client.raw({ method: 'GET', path: OPENAPI_PATH }, { signal: context.terminal.signal }),
  );
  const took = Math.round(clock.mono() - started);
  const answeredAt = clock.now();
  const unreached =
    described instanceof Failure ? described : await otherServer(context, client, described);
  if (unreached || described instanceof Failure) {
    if (unreached) yield failedCheck('reach', unreached);
    yield* skipped(asking.slice(1));
    return yield* storeCheck(context);
  }
  yield passed('reach', `responded in ${took} ms`);
  yield judgeClock(described.headers['date'], askedAt, answeredAt);
  yield* keyChecks(context, client);
  yield* driftChecks(described);
  yield* judgeAnswers(
    openDifferenceLog(await context.service.target(), context.settings, context.terminal.io).list(),
    clock.now(),
  );
  yield* storeCheck(context);
  yield* budgetChecks(context);
  if (ws)
    yield await context.terminal.waits.during(
      () => 'waiting for the WebSocket',
      () => socketCheck(context),
    );
}

/** The check that a failure to open the client belongs to. */
function checkOf({ code }: Failure, isKeyKnown: boolean): 'key' | 'store' | 'reach' {
  if (keyCodes.includes(code) && !isKeyKnown) return 'key';
  return code.startsWith('STORE_') || code === SECRET_COMMAND ? 'store' : 'reach';
}

const keyCodes = ['NO_KEY', 'BAD_KEY', SECRET_COMMAND];

async function* budgetChecks(context: Context): AsyncGenerator<Check> {
  const { budgetStates, leftText } = await import('../run/budgets.ts');
  const states = await attempt(() => budgetStates(context));
  if (states instanceof Failure) return yield failedCheck('budget', states);
  for (const state of states) {
    const text = leftText(state, context.terminal.io.clock.now());
    if (leftIn(state) > 0) yield passed('budget', text);
    else yield warn('budget', text, raiseBudgetText(state));
  }
}

async function* storeCheck(context: Context): AsyncGenerator<Check> {
  const store = await attempt(() => context.service.store());
  if (store instanceof Failure) return yield failedCheck('store', store);
  if (store === undefined) return;
  const server = await attempt(() => store.link.use(async (connection) => connection.server));
  if (server instanceof Failure) return yield failedCheck('store', server);
  yield passed(
    'store',
    `${store.address.shown}, ${server.product} ${server.version}; run "trdr store check" for details`,
  );
}

function* settingsChecks(context: Context): Generator<Check> {
  if (context.settings.flags.sandbox)
    return yield passed('settings', 'not needed for the embedded service');
  try {
    const { problems, profile } = sourcedSettings(
      context.terminal.io,
      context.settings.flags,
      true,
    );
    for (const problem of problems) yield failedCheck('settings', problem);
    const { io } = context.terminal;
    const config = configOf(io);
    const { path } = config;
    if (problems.length === 0 && path !== undefined && config.isReadableByOthers(io.platform))
      yield warn(
        'settings',
        `other users can read ${path}, which may contain keys`,
        `chmod 600 ${path}`,
      );
    else if (problems.length === 0)
      yield passed(
        'settings',
        `profile "${profile.value}", ${path ?? 'no folder for a config file'}`,
      );
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield failedCheck('settings', error);
  }
}

const skipped = (checks: readonly string[]) => checks.map((check) => skip(check, 'skipped'));

/**
 * A web server or a captive portal has no OpenAPI document, and no `me`, or one that is not a JSON
 * object.
 */
async function otherServer(
  context: Context,
  client: Client,
  described: HttpAnswer,
): Promise<Failure | undefined> {
  if (pathsIn(plainJson(described.text)) !== undefined) return undefined;
  const me = await attempt(() =>
    client.raw({ method: 'GET', path: endpoints.me.path }, { signal: context.terminal.signal }),
  );
  if (me instanceof Failure) return undefined;
  if (me.status !== 404 && isRecord(plainJson(me.text))) return undefined;
  const { server, 'content-type': type } = me.headers;
  const what = [`HTTP ${me.status}`, type?.split(';')[0], server].filter(Boolean).join(', ');
  return new Failure(
    'answer',
    `the server at the base URL is not the service (${what.slice(0, 120)})`,
    {
      code: 'OTHER_SERVER',
      hint: 'is this the right base URL? On a network with a login page, log in first',
    },
  );
}

async function* keyChecks(context: Context, client: Client): AsyncGenerator<Check> {
  const { key } = await context.service.target();
  const me = await attempt(() => client.call('me', {}, { signal: context.terminal.signal }));
  if (me instanceof Failure) {
    yield failedCheck('key', me);
    return yield skip('limits', 'skipped');
  }
  const { command } = context.settings.key;
  const used = key.current;
  const shown = `${keyKind(used) === 'unknown' ? '' : `${keyKind(used)} key `}${maskKey(used)}`;
  yield passed('key', `${shown} accepted${command === undefined ? '' : `, from ${command}`}`);
  yield judgeLimits(me.record);
}

async function* driftChecks(answer: HttpAnswer): AsyncGenerator<Check> {
  const document = answer.status === 200 ? plainJson(answer.text) : undefined;
  if (document === undefined) {
    const what = answer.status === 200 ? 'text that is not JSON' : `HTTP ${answer.status}`;
    return yield warn(
      'drift',
      `cannot compare the API: ${OPENAPI_PATH} responded with ${what}`,
      'run "trdr doctor" again later; if this does not help, check the base URL',
    );
  }
  if (Object.keys(pathsIn(document) ?? {}).length === 0) {
    return yield warn(
      'drift',
      `cannot compare the API: ${OPENAPI_PATH} describes no paths`,
      'check the base URL, or ask the operator of the service for a complete description',
    );
  }
  const { openapi } = await import('../../contract/openapi.ts');
  // Do not report these two paths, which many API descriptions omit.
  yield* judgeDrift(compareDescriptions(openapi(), document, [SOCKET_PATH, OPENAPI_PATH]));
}

const pathsIn = (document: unknown): object | undefined =>
  isRecord(document) && isRecord(document['paths']) ? document['paths'] : undefined;

const READY_MS = 15_000;

/** The changes of a connection, which a reader awaits from before it reads: it misses none. */
class Changes {
  #next = openPromise();

  next(): Promise<void> {
    return this.#next.promise;
  }

  note(): void {
    this.#next.resolve();
    this.#next = openPromise();
  }
}

async function socketCheck(context: Context): Promise<Check> {
  const { maxCu } = context.settings;
  if (maxCu !== undefined && context.bill.spent + cu.socketMinute > maxCu) {
    return skip(
      'socket',
      `skipped: one minute costs ${unitsText(cu.socketMinute)}, more than the spending limit allows`,
    );
  }
  const { socketOf } = await import('../tail/socket.ts');
  const connect = socketOf(context, await context.service.client(), await context.service.target());
  const over = new AbortController();
  const signal = AbortSignal.any([context.terminal.signal, over.signal]);
  const late = new Failure(
    'network',
    `the WebSocket was not ready within ${READY_MS / 1000} seconds`,
    {
      code: 'NO_ANSWER',
      hint: 'check whether a proxy blocks WebSockets; "trdr thesis tail --via poll" works without them',
    },
  );
  const timer = context.terminal.io.clock.sleep(READY_MS, signal).then(
    () => over.abort(late),
    () => {},
  );
  const outcome = await attempt(async () => {
    const changes = new Changes();
    signal.addEventListener('abort', () => changes.note(), { once: true });
    const link = await connect(() => changes.note(), signal);
    try {
      for (;;) {
        const changed = changes.next();
        for (let frame = link.next(); frame; frame = link.next()) {
          const read = ServerFrame.safeParse(plainJson(Buffer.from(frame).toString('utf8')));
          if (read.data?.type === 'ready') return;
        }
        if (link.end) {
          throw new Failure('network', `the WebSocket was closed: ${link.end.text}`, {
            code: 'SOCKET_CLOSED',
            hint: 'try again; if it keeps happening, "trdr thesis tail --via poll" works without a WebSocket',
          });
        }
        signal.throwIfAborted();
        await changed;
      }
    } finally {
      link.close();
    }
  });
  over.abort();
  await timer;
  return outcome instanceof Failure
    ? failedCheck('socket', outcome)
    : passed('socket', 'the WebSocket connects and is ready');
}
