import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';
import type { FormName } from './forms.ts';
import type { Known } from './read-record.ts';

/** An object schema, the form of params and query. */
export type FieldShapes = z.ZodMiniObject<Record<string, z.core.$ZodType>>;
/** The successful answers of an endpoint by status. */
export type Answers = { readonly 200: z.core.$ZodType; readonly 202?: z.core.$ZodType };

/** The input of a call: path parameters, query and body. */
export interface Request<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** A successful answer as described, distinguished by its status. */
export type Answered<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly record: A[S] extends z.core.$ZodType ? z.output<A[S]> : never;
  };
}[keyof A & number];

/** A successful answer as received: the real service may differ from its description. */
export type KnownAnswer<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly known: A[S] extends z.core.$ZodType ? Known<z.output<A[S]>> : never;
  };
}[keyof A & number];

/**
 * What a call can cost before it is made. `reveals` is the maximum number of wallets that it can reveal.
 */
export interface PriceBounds {
  readonly least: number;
  readonly most: number;
  readonly reveals: number;
}

/** What an answer cost. */
export interface Charge {
  readonly cu: number;
  /** What may have been charged in addition to `cu`. */
  readonly uncertain?: number;
  readonly reveals: number;
}

/** How a call is priced, before and after it. */
export interface Price<R, A> {
  /** The pricing rule as the price list prints it. */
  readonly text: string;
  // Methods are bivariant, so that a typed row is assignable to the general type used in loops over the
  // table.
  before(request: R): PriceBounds;
  after(request: R, answer: A): Charge;
  /** The price of a 404. */
  readonly miss: number;
}

/**
 * What to do when the connection breaks after a request was sent: `repeat` (a read: request it again) or
 * `never` (it may have been charged, and a repeat could be charged again).
 */
export type RetryRule = 'repeat' | 'never';

/** One endpoint of the service as a value. */
export interface Endpoint<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  A extends Answers,
> {
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  readonly group: 'identity' | 'numbers' | 'theses' | 'launchpad' | 'account';
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly answers: A;
  /** How a 200 response is recognized. */
  readonly form: FormName;
  /** Codes documented for this endpoint in addition to `commonErrors`. */
  readonly errors: readonly ErrorCode[];
  readonly price: Price<Request<z.output<P>, z.output<Q>, z.output<B>>, KnownAnswer<A>>;
  readonly retry: RetryRule;
  /** Default timeout of a request, in seconds. */
  readonly timeoutSeconds: number;
}

/** Checks the form of a row and keeps its exact types. */
export function endpoint<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  const A extends Answers,
>(row: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return row;
}

/**
 * A table whose rows are created on first use: a run needs one or two of them, and creating each takes
 * time.
 */
export function rows<M extends Readonly<Record<string, () => unknown>>>(
  makers: M,
): { readonly [K in keyof M]: ReturnType<M[K]> } {
  const table = {};
  for (const [name, make] of Object.entries(makers)) {
    let row: unknown;
    Object.defineProperty(table, name, {
      enumerable: true,
      get() {
        row ??= make();
        return row;
      },
    });
  }
  return table as { readonly [K in keyof M]: ReturnType<M[K]> };
}

/** A row of unknown types, as loops over the table see it. */
export interface AnyEndpoint
  extends Omit<Endpoint<FieldShapes, FieldShapes, z.core.$ZodType, Answers>, 'price'> {
  readonly price: Price<Request, { readonly status: number; readonly known: unknown }>;
}

/** Errors that every endpoint may answer with. */
export const commonErrors = [
  'VALIDATION_ERROR',
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'FORBIDDEN_SCOPE',
  'FREE_TIER_DISABLED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'OVERLOADED',
  'B2B_DISABLED',
  'TIMEOUT',
] as const satisfies readonly ErrorCode[];

/**
 * The cost of an error answer. Only a lookup's own 404 is charged: 401, 403, 429 and 5xx are documented as
 * free, and the price list has no price for 400, 402 and 409.
 */
export function chargeOfError(row: { price: { miss: number } }, status: number, code: string): Charge {
  const miss = status === 404 && code !== 'NOT_FOUND';
  return { cu: miss ? row.price.miss : 0, reveals: 0 };
}

/** Inserts encoded parameters into a path. */
export function pathOf(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}
