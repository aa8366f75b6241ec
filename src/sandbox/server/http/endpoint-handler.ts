import type * as z from 'zod/mini';
import {
  type Answered,
  type Answers,
  type Charge,
  chargeOfError,
  type Endpoint,
  type FieldShapes,
  type Request,
} from '../../../contract/endpoint.ts';
import { errorCodes } from '../../../contract/errors.ts';
import type { Key } from '../../keys/key.ts';
import { type Refusal, refusal } from './api-error.ts';
import { parseInput, type RawInput } from './request-input.ts';

/** Who calls. */
export interface Call {
  readonly key: Key;
  readonly ip: string;
}

/** What a handler comes to. `release` gives back what it held aside for the charge that follows. */
type Result<A extends Answers> =
  | {
      readonly ok: true;
      readonly answer: Answered<A>;
      readonly headers?: Record<string, string>;
      readonly release?: () => void;
    }
  | { readonly ok: false; readonly refusal: Refusal; readonly release?: () => void };

/** Answers one endpoint's checked requests. */
export type Handle<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
> = (request: Request<z.output<P>, z.output<Q>, z.output<B>>, call: Call) => Result<A> | Promise<Result<A>>;

/** What a request comes to, charged and ready to be written. */
export type Outcome =
  | {
      readonly ok: true;
      readonly status: number;
      readonly record: unknown;
      readonly headers: Record<string, string>;
      readonly charge: Charge;
    }
  | { readonly ok: false; readonly refusal: Refusal; readonly charge: Charge };

/** How many reveals an answer that returns several wallets counts as: one a response, or one an entry. */
export type RevealCount = 'response' | 'entry';

/** A row of the table joined to its handler. */
export interface Route {
  serve(raw: RawInput, call: Call, reveals: RevealCount): Outcome | Promise<Outcome>;
  /** Refuses, and charges what that error of this endpoint costs. */
  fail(why: Refusal, call: Call): Outcome;
}

/** A handler's ordinary answer. */
export const ok = <R>(record: R) => ({ ok: true as const, answer: { status: 200 as const, record } });

/** A handler's way to say no. */
export const refuse = (...parts: Parameters<typeof refusal>) => ({
  ok: false as const,
  refusal: refusal(...parts),
});

const nothing: Charge = { cu: 0, reveals: 0 };
/** An answer that costs nothing because it refuses. */
export const refused = (why: Refusal): Outcome => ({ ok: false, refusal: why, charge: nothing });

/** Joins a row of the table to what answers it: input checked before, price counted after. */
export function route<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
>(row: Endpoint<P, Q, B, A>, handle: Handle<P, Q, B, A>): Route {
  return {
    fail: (why, call) => charged(why, row, call),
    serve(raw, call, reveals) {
      const input = parseInput(row, raw);
      if (!input.ok) return refused(input.refusal);
      const settle = (result: Result<A>): Outcome => {
        result.release?.();
        return result.ok ? paid(result, row, input.value, call, reveals) : charged(result.refusal, row, call);
      };
      const result = handle(input.value, call);
      return result instanceof Promise ? result.then(settle) : settle(result);
    },
  };
}

function paid<P extends FieldShapes, Q extends FieldShapes, B extends z.core.$ZodType, A extends Answers>(
  { answer, headers = {} }: Extract<Result<A>, { ok: true }>,
  row: Endpoint<P, Q, B, A>,
  request: Request<z.output<P>, z.output<Q>, z.output<B>>,
  call: Call,
  count: RevealCount,
): Outcome {
  const price = row.price.after(request, answer);
  const charge = count === 'entry' ? price : { cu: price.cu, reveals: Math.min(1, price.reveals) };
  const shortage = call.key.meter.shortage(charge);
  if (shortage) return refused(refusal(shortage));
  call.key.meter.spend(charge);
  return { ok: true, status: answer.status, record: answer.record, headers, charge };
}

function charged(why: Refusal, row: { price: { miss: number } }, { key }: Call): Outcome {
  const charge = chargeOfError(row, errorCodes[why.code].status, why.code);
  const shortage = key.meter.shortage(charge);
  if (shortage) return refused(refusal(shortage));
  key.meter.spend(charge);
  return { ok: false, refusal: why, charge };
}
