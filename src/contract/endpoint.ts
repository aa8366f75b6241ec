import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';
import type { Known, RecordType } from './read-record.ts';

export type FieldShapes = z.ZodMiniObject<Record<string, z.core.$ZodType>>;
type Answers = { readonly 200: z.core.$ZodType; readonly 202?: z.core.$ZodType };

export interface Request<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

export type Answered<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly record: A[S] extends z.core.$ZodType ? z.output<A[S]> : never;
  };
}[keyof A & number];

/** Any field of `known` may be missing, because the service may differ from its description. */
export type KnownAnswer<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly known: A[S] extends z.core.$ZodType ? Known<z.output<A[S]>> : never;
  };
}[keyof A & number];

/** The possible cost of a call in CU, and the most reveals it can be charged. */
export interface PriceBounds {
  readonly least: number;
  readonly most: number;
  readonly reveals: number;
}

export interface Charge {
  readonly cu: number;
  readonly uncertain?: number;
  readonly reveals: number;
}

export interface Price<R, A> {
  readonly text: string;
  // Methods, whose parameters are bivariant: an endpoint with exact types is then an `AnyEndpoint`.
  before(request: R): PriceBounds;
  after(request: R, answer: A): Charge;
  readonly miss: number;
}

/** What to do if a request may have been charged but its answer was lost. */
export type RetryRule = 'repeat' | 'never';

interface Endpoint<
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
  readonly recordType: RecordType;
  readonly errors: readonly ErrorCode[];
  readonly price: Price<Request<z.output<P>, z.output<Q>, z.output<B>>, KnownAnswer<A>>;
  readonly retry: RetryRule;
  readonly timeoutSeconds: number;
}

export function endpoint<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  const A extends Answers,
>(row: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return row;
}

/** Creates each endpoint on first use: a run needs one or two, and creating all would slow down the start. */
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

export interface AnyEndpoint
  extends Omit<Endpoint<FieldShapes, FieldShapes, z.core.$ZodType, Answers>, 'price'> {
  readonly price: Price<Request, { readonly status: number; readonly known: unknown }>;
}

/** Documented for all endpoints except `me`. */
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

/** Only a 404 for an unknown subject is charged. 400, 402 and 409 have no documented price. */
export function chargeOfError(
  row: { price: { miss: number } },
  status: number,
  code: string,
): Charge {
  const miss = status === 404 && code !== 'NOT_FOUND';
  return { cu: miss ? row.price.miss : 0, reveals: 0 };
}

export function pathOf(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
}
