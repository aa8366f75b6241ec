import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';
import type { FormName } from './forms.ts';
import type { Known } from './known.ts';

/** An object schema, as params and query are. */
export type FieldShapes = z.ZodMiniObject<Record<string, z.core.$ZodType>>;
/** The success answers of an endpoint by status. */
export type Answers = { readonly 200: z.core.$ZodType; readonly 202?: z.core.$ZodType };

/** A call's input: what goes into the path, the query and the body. */
export interface Request<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** An answer that succeeded, as it is described, told apart by its status. */
export type Answered<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly record: A[S] extends z.core.$ZodType ? z.output<A[S]> : never;
  };
}[keyof A & number];

/** What is known of an answer that succeeded: the real service may differ from its description. */
export type KnownAnswer<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly known: A[S] extends z.core.$ZodType ? Known<z.output<A[S]>> : never;
  };
}[keyof A & number];

/** What a call can cost before it is made. `reveals` is the most wallets it can reveal. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly reveals: number;
}

/** What an answer did cost. */
export interface Charge {
  readonly cu: number;
  /** What may have been charged on top of `cu`. */
  readonly uncertain?: number;
  readonly reveals: number;
}

/** How a call is priced, before it and after it. */
export interface Price<R, A> {
  /** The rule as the price list prints it. */
  readonly text: string;
  // Methods, so that a row of known types is still a row to what loops over the table.
  before(request: R): Bounds;
  after(request: R, answer: A): Charge;
  /** What a 404 costs. */
  readonly miss: number;
}

/**
 * What may be done when a connection broke after the request had left:
 * `repeat` (a read: ask again) or `never` (it may have been charged, asking again could charge twice).
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
  /** What a 200 is recognised by. */
  readonly form: FormName;
  /** Codes this endpoint documents beyond those every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
  readonly price: Price<Request<z.output<P>, z.output<Q>, z.output<B>>, KnownAnswer<A>>;
  readonly retry: RetryRule;
  /** Default time allowed for one request, in seconds. */
  readonly timeoutSeconds: number;
}

/** Keeps the exact types of a row while checking its form. */
export function endpoint<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  const A extends Answers,
>(row: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return row;
}

/** A table whose rows are made when they are first asked for: a run needs one or two, and each takes its time. */
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

/** A row whose types are not known: what loops over the table see. */
export interface AnyEndpoint
  extends Omit<Endpoint<FieldShapes, FieldShapes, z.core.$ZodType, Answers>, 'price'> {
  readonly price: Price<Request, { readonly status: number; readonly known: unknown }>;
}

/** Errors that any endpoint may answer with. */
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
 * What an error answer costs. Only a 404 that is a lookup's own miss is charged; the price list has no
 * price for a 400, 402 or 409, and 401, 403, 429 and 5xx are stated to be free.
 */
export function chargeOfError(row: { price: { miss: number } }, status: number, code: string): Charge {
  const miss = status === 404 && code !== 'NOT_FOUND';
  return { cu: miss ? row.price.miss : 0, reveals: 0 };
}

/** Fills a path's parameters in, encoded. */
export function pathOf(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}
