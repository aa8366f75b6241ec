import { Failure } from '../../base/failure.ts';
import { OPENAPI_PATH, SOCKET_PATH } from '../../contract/endpoints.ts';
import type { Client, HttpAnswer } from '../../contract/ports.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { compareDescriptions } from '../../core/drift.ts';
import { keyKind } from '../../state/config/key-format.ts';
import { differencesOf } from '../connect.ts';
import type { Context } from '../context.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';
import { attempt, parsed } from './attempt.ts';
import { type Check, fail, passed, skip, warn } from './check.ts';
import { judgeAnswers, judgeClock, judgeDrift, judgeLimits } from './judge.ts';
import { socketCheck } from './socket.ts';

/** Makes all checks in turn. What can't be asked because of what failed before is skipped. */
export async function* probe(context: Context, { ws }: { readonly ws: boolean }): AsyncGenerator<Check> {
  yield* settingsChecks(context);
  const asking = ['reach', 'clock', 'key', 'limits', 'drift', ...(ws ? ['socket'] : [])];
  const client = await attempt(() => context.client());
  if (client instanceof Failure) {
    const failed = client.code === 'NO_KEY' ? 'key' : 'reach';
    yield fail(failed, client);
    return yield* skipped(asking.filter((check) => check !== failed));
  }
  const { clock } = context.io;
  const askedAt = clock.now();
  const started = clock.mono();
  const described = await attempt(() => client.raw({ method: 'GET', path: OPENAPI_PATH }, context));
  if (described instanceof Failure) {
    yield fail('reach', described);
    return yield* skipped(asking.slice(1));
  }
  yield passed('reach', `answers in ${Math.round(clock.mono() - started)} ms`);
  yield judgeClock(described.headers['date'], askedAt, clock.now());
  yield* keyChecks(context, client);
  yield* driftChecks(described);
  yield* judgeAnswers(
    differencesOf(await context.target(), context.settings, context.io).list(),
    clock.now(),
  );
  yield* storeCheck(context);
  if (ws) yield await socketCheck(context);
}

async function* storeCheck(context: Context): AsyncGenerator<Check> {
  const store = await attempt(() => context.store());
  if (store instanceof Failure) return yield fail('store', store);
  if (store === undefined) return;
  const server = await attempt(() => store.link.use(async (connection) => connection.server));
  if (server instanceof Failure) return yield fail('store', server);
  yield passed(
    'store',
    `${store.address.shown}, ${server.product} ${server.version}; trdr store check examines it`,
  );
}

function* settingsChecks(context: Context): Generator<Check> {
  if (context.globals.sandbox) return yield passed('settings', 'the embedded service: none are needed');
  try {
    const { problems, profile } = sourcedSettings(context.io, context.globals, {
      tolerant: true,
      newProfile: true,
    });
    for (const problem of problems) yield fail('settings', problem);
    const { path } = configOf(context.io);
    if (problems.length === 0)
      yield passed('settings', `profile "${profile.value}", ${path ?? 'no home for a file'}`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    yield fail('settings', error);
  }
}

const skipped = (checks: readonly string[]) => checks.map((check) => skip(check, 'not asked: see above'));

async function* keyChecks(context: Context, client: Client): AsyncGenerator<Check> {
  const { key = '' } = await context.target();
  const shown = `${keyKind(key) === 'unknown' ? '' : `${keyKind(key)} key `}${maskKey(key)}`;
  const me = await attempt(() => client.call('me', {}, { signal: context.signal }));
  if (me instanceof Failure) {
    yield fail('key', me);
    return yield skip('limits', 'not asked: see above');
  }
  yield passed('key', `${shown} is taken`);
  yield judgeLimits(me.record);
}

async function* driftChecks(answer: HttpAnswer): AsyncGenerator<Check> {
  const document = answer.status === 200 ? parsed(answer.text) : undefined;
  if (document === undefined) {
    const what = answer.status === 200 ? 'no JSON' : `status ${answer.status}`;
    return yield warn(
      'drift',
      `${OPENAPI_PATH} answers with ${what}`,
      'check the base URL: is it the service?',
    );
  }
  const { openapi } = await import('../../contract/openapi.ts');
  // These two describe the service rather than being of it, and many descriptions leave them out.
  yield* judgeDrift(compareDescriptions(openapi(), document, [SOCKET_PATH, OPENAPI_PATH]));
}
