import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { normalHandle } from '../../contract/handles.ts';
import { issuesText } from '../../contract/issue-text.ts';
import { planNames, scopes } from '../keys/plans.ts';
import type { SandboxParts } from './parts.ts';
import type { SocketServer } from './socket/socket-server.ts';
import type { StateReport } from './state-report.ts';

/** The maximum number of posts of one `post` operation. */
const MAX_POSTS = 10_000;

/** An operation on a running sandbox. */
export interface ControlOperation<I, O> {
  run(input: I): Promise<O>;
  /** Validates the body of `POST /_sandbox/<name>`, then runs the operation. */
  runRaw(raw: unknown): { readonly problem: string } | { readonly result: Promise<O> };
}

function operation<I, O>(input: z.ZodMiniType<I>, act: (input: I) => O | Promise<O>): ControlOperation<I, O> {
  const run = (checked: I) => new Promise<O>((resolve) => resolve(act(checked)));
  return {
    run,
    runRaw(raw) {
      const parsed = z.safeParse(input, raw);
      return parsed.success
        ? { result: run(parsed.data) }
        : { problem: `${parsed.error.issues.map((issue) => issuesText([issue], 'The body')).join('; ')}.` };
    },
  };
}

const count = z.int().check(z.nonnegative());
const postCount = z.int().check(z.nonnegative(), z.maximum(MAX_POSTS));
const noInput = z.object({});
const keyOptions = z.object({
  plan: z.optional(z.enum(planNames)),
  mode: z.optional(z.enum(['live', 'test'])),
  key: z.optional(z.string()),
  scopes: z.optional(z.array(z.enum(scopes))),
  ratePerMinute: z.optional(count),
  monthlyUnits: z.optional(count),
  revealsPerMonth: z.optional(z.nullable(count)),
  additionalUnits: z.optional(count),
  unitsUsed: z.optional(count),
  revealsUsed: z.optional(count),
  unmetered: z.optional(z.boolean()),
});

export interface ControlTargets {
  readonly parts: SandboxParts;
  readonly sockets: SocketServer;
  readonly state: () => StateReport;
  /** Simulates a restart of the service, which then stays unreachable for `downMs` milliseconds. */
  readonly restart: (downMs: number) => void;
}

/**
 * All control operations. Code can call them directly; other programs call them through `POST
 * /_sandbox/<name>`.
 */
export function createControls({ parts, sockets, state, restart }: ControlTargets) {
  const { world, clock, faults, feed, admission, log } = parts;
  const keyOf = (text: string | undefined) => {
    const key = text === undefined ? admission.keys[0] : admission.byText(text);
    if (!key) throw usageError('unknown key', 'create it with the operation "key", or omit it');
    return key;
  };

  return {
    state: operation(noInput, state),
    meter: operation(noInput, () => state().keys),
    log: operation(noInput, () => log.entries),
    clock: operation(
      z.object({ now: z.optional(z.number()), advanceMs: z.optional(count) }),
      async (input) => {
        if (input.now !== undefined) clock.set(input.now);
        if (input.advanceMs !== undefined) await clock.advance(input.advanceMs);
        return { now: clock.now() };
      },
    ),
    faults: operation(z.object({ spec: z.string(), add: z.optional(z.boolean()) }), ({ spec, add }) => {
      if (add) faults.add(spec);
      else faults.set(spec);
      return { spec: faults.text };
    }),
    // Limit the number, because the response contains every post.
    post: operation(z.object({ count: z.optional(postCount) }), ({ count: posts = 1 }) =>
      Array.from({ length: posts }, () => feed.post()),
    ),
    callout: operation(noInput, () => world.launchpad.postCallout(clock.now())),
    rate: operation(z.object({ perMinute: z.number().check(z.nonnegative()) }), ({ perMinute }) => {
      feed.setRate(perMinute);
      return { perMinute };
    }),
    key: operation(keyOptions, (options) => {
      const { id, text, plan } = admission.add(options);
      return { id, key: text, plan };
    }),
    topUp: operation(z.object({ units: count, key: z.optional(z.string()) }), ({ units, key }) => {
      keyOf(key).meter.topUp(units);
      return keyOf(key).meter.reading();
    }),
    withhold: operation(z.object({ id: z.string(), ms: count }), ({ id, ms }) => {
      const until = clock.now() + ms;
      world.theses.withhold(id, until);
      return { id, until };
    }),
    remove: operation(z.object({ id: z.string() }), ({ id }) => {
      world.theses.remove(id);
      return { id };
    }),
    rename: operation(z.object({ handle: z.string(), to: z.string() }), ({ handle, to }) => {
      const user = world.users.byHandle(normalHandle(handle));
      if (!user) throw usageError(`no user has the handle ${handle}`, 'use the handle of an existing user');
      world.users.rename(user.id, to);
      return { id: user.id, handle: to };
    }),
    sockets: operation(
      z.object({ how: z.enum(['drop', 'close', 'halfopen']), code: z.optional(count) }),
      ({ how, code }) => {
        const affected = sockets.connections.length;
        sockets.disconnect(how, code);
        return { affected };
      },
    ),
    restart: operation(z.object({ downMs: z.optional(count) }), ({ downMs = 0 }) => {
      restart(downMs);
      return { downMs };
    }),
  };
}

type Controls = ReturnType<typeof createControls>;
export type ControlName = keyof Controls;
type Inputs = { [N in ControlName]: Parameters<Controls[N]['run']>[0] };
type Outputs = { [N in ControlName]: Awaited<ReturnType<Controls[N]['run']>> };
/** The input of an operation. */
export type ControlInput<N extends ControlName> = Inputs[N];
/** The result of an operation. */
export type ControlOutput<N extends ControlName> = Outputs[N];
/** The operations by name. */
export type ControlOperations = { readonly [N in ControlName]: ControlOperation<Inputs[N], Outputs[N]> };
