import type * as z from 'zod/mini';
import {
  type Answered,
  type Answers,
  type Charge,
  chargeOfError,
  type Endpoint,
  type FieldShapes,
  type KnownAnswer,
  type Request,
} from '../../../contract/endpoint.ts';
import { errorCodes } from '../../../contract/errors.ts';
import type { Key } from '../../keys/key.ts';
import { type ApiError, apiError } from './api-error.ts';
import { parseInput, type RequestInput } from './request-input.ts';

/** The caller of an endpoint. */
export interface Caller {
  readonly key: Key;
  readonly ip: string;
}

/** The result of a handler. `release` ends the handler's reservation of units, before the call is charged. */
type Result<A extends Answers> =
  | {
      readonly ok: true;
      readonly answer: Answered<A>;
      readonly headers?: Record<string, string>;
      readonly release?: () => void;
    }
  | { readonly ok: false; readonly error: ApiError; readonly release?: () => void };

/** Handles validated requests to one endpoint. */
type Handler<P extends FieldShapes, Q extends FieldShapes, B extends z.core.$ZodType, A extends Answers> = (
  request: Request<z.output<P>, z.output<Q>, z.output<B>>,
  caller: Caller,
) => Result<A> | Promise<Result<A>>;

/** The result of a call after it was charged, ready to send. */
export type CallOutcome =
  | {
      readonly ok: true;
      readonly status: number;
      readonly record: unknown;
      readonly headers: Record<string, string>;
      readonly charge: Charge;
    }
  | { readonly ok: false; readonly error: ApiError; readonly charge: Charge };

/** Whether a response with several wallets counts as one reveal, or each entry counts as one. */
export type RevealCount = 'response' | 'entry';

/** An endpoint with its handler. */
export interface EndpointHandler {
  serve(raw: RequestInput, caller: Caller, reveals: RevealCount): CallOutcome | Promise<CallOutcome>;
  /** Returns an error response, and charges the price that the endpoint has for that error. */
  fail(error: ApiError, caller: Caller): CallOutcome;
}

/** A 200 response with a record. */
export const reply = <R>(record: R) => ({ ok: true as const, answer: { status: 200 as const, record } });

/** An error response. */
export const reject = (...parts: Parameters<typeof apiError>) => ({
  ok: false as const,
  error: apiError(...parts),
});

const free: Charge = { cu: 0, reveals: 0 };
/** An error response that is not charged. */
export const freeError = (error: ApiError): CallOutcome => ({ ok: false, error, charge: free });

/**
 * Combines an endpoint with its handler: validates the input before the handler runs, and charges the price
 * afterwards.
 */
export function endpointHandler<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
>(endpoint: Endpoint<P, Q, B, A>, handler: Handler<P, Q, B, A>): EndpointHandler {
  return {
    fail: (error, caller) => chargeError(error, endpoint, caller),
    serve(raw, caller, reveals) {
      const input = parseInput(endpoint, raw);
      if (!input.ok) return freeError(input.error);
      const settle = (result: Result<A>): CallOutcome => {
        result.release?.();
        return result.ok
          ? chargeAnswer(result, endpoint, input.value, caller, reveals)
          : chargeError(result.error, endpoint, caller);
      };
      const result = handler(input.value, caller);
      return result instanceof Promise ? result.then(settle) : settle(result);
    },
  };
}

function chargeAnswer<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
>(
  { answer, headers = {} }: Extract<Result<A>, { ok: true }>,
  endpoint: Endpoint<P, Q, B, A>,
  request: Request<z.output<P>, z.output<Q>, z.output<B>>,
  { key }: Caller,
  count: RevealCount,
): CallOutcome {
  // This cast is safe: the sandbox's own records are complete.
  const complete = { status: answer.status, known: answer.record } as KnownAnswer<A>;
  const price = endpoint.price.after(request, complete);
  const charge = count === 'entry' ? price : { cu: price.cu, reveals: Math.min(1, price.reveals) };
  const shortage = key.meter.shortage(charge);
  if (shortage) return freeError(apiError(shortage));
  key.meter.spend(charge);
  return { ok: true, status: answer.status, record: answer.record, headers, charge };
}

function chargeError(error: ApiError, endpoint: { price: { miss: number } }, { key }: Caller): CallOutcome {
  const charge = chargeOfError(endpoint, errorCodes[error.code].status, error.code);
  const shortage = key.meter.shortage(charge);
  if (shortage) return freeError(apiError(shortage));
  key.meter.spend(charge);
  return { ok: false, error, charge };
}
