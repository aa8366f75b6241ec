import type * as z from 'zod/mini';
import type { ErrorCode } from './errors.ts';
import type { Known } from './read-record.ts';
import type { RecordType } from './record-types.ts';

/** A schema of the path parameters or of the query of an endpoint. */
export type FieldShapes = z.ZodMiniObject<Record<string, z.core.$ZodType>>;
/** The schemas of the successful answers of an endpoint, by status. */
type Answers = { readonly 200: z.core.$ZodType; readonly 202?: z.core.$ZodType };

/** The input of a call. */
export interface Request<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** The schemas of the answers of a row of the table. */
export type AnswersOf<Row> = Row extends { readonly answers: () => infer A } ? A : never;

/** A successful answer that matches the description, by status. */
export type Answered<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly record: A[S] extends z.core.$ZodType ? z.output<A[S]> : never;
  };
}[keyof A & number];

/**
 * A successful answer, by status. Any field of `known` may be missing, because the service may
 * differ from its description.
 */
export type KnownAnswer<A> = {
  [S in keyof A & number]: {
    readonly status: S;
    readonly known: A[S] extends z.core.$ZodType ? Known<z.output<A[S]>> : never;
  };
}[keyof A & number];

/** What a call may cost, known before it is sent: CU, and the most reveals it can be charged. */
export interface PriceBounds {
  readonly least: number;
  readonly most: number;
  readonly reveals: number;
}

/**
 * The reveals of one call: the service counts responses that returned a wallet, however many are in
 * them.
 */
export const revealsOfCall = (wallets: number): number => Math.min(1, wallets);

/** What an answered call cost. */
export interface Charge {
  readonly cu: number;
  /** The CU that may have been charged in addition to `cu`. */
  readonly uncertain?: number;
  readonly reveals: number;
  /** The reveals that may have been counted in addition. */
  readonly uncertainReveals?: number;
}

/** Computes the cost of a call before it is sent and after it is answered. */
export interface Price<R, A> {
  /** The pricing rule in words, for the price list. */
  readonly text: string;
  // Methods, because their parameters are bivariant: an endpoint with exact types is then an
  // `AnyEndpoint`.
  before(request: R): PriceBounds;
  after(request: R, answer: A): Charge;
  /** The CU charged for a 404. */
  readonly miss: number;
}

/** A header of a successful answer that trdr reads. */
interface AnswerHeader {
  readonly description: string;
  readonly values: readonly string[];
}

/**
 * What to do if the connection breaks after a request was sent: `repeat` sends it again; `never`
 * does not, because both requests could be charged.
 */
export type RetryRule = 'repeat' | 'never';

/** One endpoint of the service: a row of the table in `endpoints.ts`. */
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
  /** Created when an answer is read: prices need no schemas. */
  readonly answers: () => A;
  /** The headers of a 200, by their lower-cased names. */
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** The type of the record of a 200. */
  readonly recordType: RecordType;
  /** The error codes documented for this endpoint, in addition to `commonErrors`. */
  readonly errors: readonly ErrorCode[];
  readonly price: Price<Request<z.output<P>, z.output<Q>, z.output<B>>, KnownAnswer<A>>;
  readonly retry: RetryRule;
  /** The default timeout of a request. */
  readonly timeoutSeconds: number;
}

/** Checks the types of a row and returns it with its exact types. */
export function endpoint<
  P extends FieldShapes,
  Q extends FieldShapes,
  B extends z.core.$ZodType,
  const A extends Answers,
>(row: Endpoint<P, Q, B, A>): Endpoint<P, Q, B, A> {
  return row;
}

/**
 * Creates each endpoint on first use: a run needs one or two, and creating all would slow down the
 * start.
 */
export function rows<Table>(
  makers: { readonly [Id in keyof Table]: () => Table[Id] },
): Readonly<Table> {
  const table = {};
  for (const [name, make] of Object.entries<() => unknown>(makers)) {
    let row: unknown;
    Object.defineProperty(table, name, {
      enumerable: true,
      get() {
        row ??= make();
        return row;
      },
    });
  }
  // This cast is safe: each name has a getter for what its maker returns.
  return table as Readonly<Table>;
}

/** An endpoint whose request and answer types are not known, for loops over the table. */
export interface AnyEndpoint
  extends Omit<Endpoint<FieldShapes, FieldShapes, z.core.$ZodType, Answers>, 'price'> {
  readonly price: Price<Request, { readonly status: number; readonly known: unknown }>;
}

/** The error codes that are documented for all endpoints except `me`. */
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
 * The cost of an error response. Only a 404 for an unknown subject is charged: 401, 403, 429 and
 * 5xx are documented as free, and the price list has no price for 400, 402 and 409.
 */
export function chargeOfError(
  row: { price: { miss: number } },
  status: number,
  code: string,
): Charge {
  if (status !== 404) return { cu: 0, reveals: 0 };
  // The route or the resource does not exist: the description does not say which, and only a
  // missing resource has a price.
  if (code === 'NOT_FOUND') return { cu: 0, reveals: 0, uncertain: row.price.miss };
  return { cu: row.price.miss, reveals: 0 };
}

/** Inserts URL-encoded parameters into a path. */
export function pathOf(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
}
