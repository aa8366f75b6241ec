import * as z from 'zod/mini';
import { usageError } from '../../base/failure.ts';
import { normalHandle } from '../../contract/endpoints.ts';
import { planNames, scopes } from '../keys/plans.ts';
import type { Kernel } from './parts.ts';
import type { Gate } from './socket/socket-server.ts';
import type { State } from './state-report.ts';

/** A thing to be done to a running sandbox: from code by `run`, from outside by `take`. */
export interface Verb<I, O> {
  run(input: I): Promise<O>;
  /** Checks what came by `POST /_sandbox/<name>` and runs it, or says what is wrong with it. */
  take(raw: unknown): { readonly wrong: string } | { readonly done: Promise<O> };
}

function verb<I, O>(input: z.ZodMiniType<I>, act: (input: I) => O | Promise<O>): Verb<I, O> {
  const run = (checked: I) => new Promise<O>((resolve) => resolve(act(checked)));
  return {
    run,
    take(raw) {
      const parsed = z.safeParse(input, raw);
      return parsed.success ? { done: run(parsed.data) } : { wrong: z.prettifyError(parsed.error) };
    },
  };
}

const count = z.int().check(z.nonnegative());
const none = z.object({});
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

export interface ControlParts {
  readonly kernel: Kernel;
  readonly gate: Gate;
  readonly state: () => State;
  /** Breaks every connection, forgets all but the books, and stays away for a while. */
  readonly restart: (downMs: number) => void;
}

/** Every verb. What happens is the same from code and from outside. */
export function createControls({ kernel, gate, state, restart }: ControlParts) {
  const { world, clock, faults, feed, admission, log } = kernel;
  const keyOf = (text: string | undefined) => {
    const key = text === undefined ? admission.keys[0] : admission.byText(text);
    if (!key) throw usageError('No key of this sandbox is called that.');
    return key;
  };

  return {
    state: verb(none, state),
    meter: verb(none, () => state().keys),
    log: verb(none, () => log.entries),
    clock: verb(z.object({ now: z.optional(z.number()), advanceMs: z.optional(count) }), async (input) => {
      if (input.now !== undefined) clock.set(input.now);
      if (input.advanceMs !== undefined) await clock.advance(input.advanceMs);
      return { now: clock.now() };
    }),
    faults: verb(z.object({ spec: z.string(), add: z.optional(z.boolean()) }), ({ spec, add }) => {
      if (add) faults.add(spec);
      else faults.set(spec);
      return { spec: faults.text };
    }),
    post: verb(z.object({ count: z.optional(count) }), ({ count: many = 1 }) =>
      Array.from({ length: many }, () => feed.post()),
    ),
    callout: verb(none, () => world.launchpad.postCallout(clock.now())),
    rate: verb(z.object({ perMinute: z.number().check(z.nonnegative()) }), ({ perMinute }) => {
      feed.setRate(perMinute);
      return { perMinute };
    }),
    key: verb(keyOptions, (options) => {
      const { id, text, plan } = admission.add(options);
      return { id, key: text, plan };
    }),
    topUp: verb(z.object({ units: count, key: z.optional(z.string()) }), ({ units, key }) => {
      keyOf(key).meter.topUp(units);
      return keyOf(key).meter.reading();
    }),
    withhold: verb(z.object({ id: z.string(), ms: count }), ({ id, ms }) => {
      const until = clock.now() + ms;
      world.theses.withhold(id, until);
      return { id, until };
    }),
    remove: verb(z.object({ id: z.string() }), ({ id }) => {
      world.theses.remove(id);
      return { id };
    }),
    rename: verb(z.object({ handle: z.string(), to: z.string() }), ({ handle, to }) => {
      const user = world.users.byHandle(normalHandle(handle));
      if (!user) throw usageError(`No user is called ${handle}.`);
      world.users.rename(user.id, to);
      return { id: user.id, handle: to };
    }),
    sockets: verb(
      z.object({ how: z.enum(['drop', 'close', 'halfopen']), code: z.optional(count) }),
      ({ how, code }) => {
        const struck = gate.sessions.length;
        gate.strike(how, code);
        return { struck };
      },
    ),
    restart: verb(z.object({ downMs: z.optional(count) }), ({ downMs = 0 }) => {
      restart(downMs);
      return { downMs };
    }),
  };
}

type Controls = ReturnType<typeof createControls>;
export type ControlName = keyof Controls;
type Inputs = { [N in ControlName]: Parameters<Controls[N]['run']>[0] };
type Outputs = { [N in ControlName]: Awaited<ReturnType<Controls[N]['run']>> };
/** What a verb takes. */
export type ControlInput<N extends ControlName> = Inputs[N];
/** What a verb comes to. */
export type ControlOutput<N extends ControlName> = Outputs[N];
/** The verbs, each with its own types: what a call by name goes through. */
export type Verbs = { readonly [N in ControlName]: Verb<Inputs[N], Outputs[N]> };
