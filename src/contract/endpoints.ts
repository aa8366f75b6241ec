import * as z from 'zod/mini';
import { unitsText } from '../base/units.ts';
import {
  type AnswersOf,
  endpoint,
  type FieldShapes,
  type KnownAnswer,
  type Request,
  rows,
} from './endpoint.ts';
import { bounded, field } from './field.ts';
import { distinctHandles, servedHandle } from './handles.ts';
import {
  ADDRESS_MAX,
  BATCH_MAX,
  cu,
  HANDLE_MAX,
  RESOLVE_TIMEOUT_SECONDS,
  THESIS_LIMIT_DEFAULT,
  THESIS_LIMIT_MAX,
  TIMEOUT_SECONDS,
  thesisBlocks,
} from './limits.ts';
import type { Known } from './read-record.ts';
import { Me } from './records/account.ts';
import { Board, boardPeriods, CalloutPage, LaunchpadUser } from './records/launchpad.ts';
import { Pnl, PnlBatch } from './records/pnl.ts';
import { ThesisPage, TokenThesisPage, UserThesisPage } from './records/thesis.ts';
import { holdsWallet, Pending, User } from './records/user.ts';

/** The header of a resolve that states whether the service had to search live. */
export const RESOLVE_HEADER = 'x-service-resolve';

const provesWallet = ({ wallet, evmWallet }: Known<Pnl>) =>
  typeof wallet === 'string' || typeof evmWallet === 'string';

const fixedPrice = (text: string, cost: number) => ({
  text,
  before: () => ({ least: cost, most: cost, reveals: 0 }),
  after: () => ({ cu: cost, reveals: 0 }),
  miss: cost,
});

const lookupPrice = {
  text: '100 CU, 200 CU on 404',
  before: () => ({ least: cu.lookup, most: cu.miss, reveals: 1 }),
  after: (_: unknown, answer: { known: Known<User> }) => ({
    cu: cu.lookup,
    reveals: Number(holdsWallet(answer.known)),
  }),
  miss: cu.miss,
};

const revealPrice = {
  text: '30,000 CU, 200 CU on 404',
  before: () => ({ least: cu.miss, most: cu.reveal, reveals: 1 }),
  miss: cu.miss,
};

const thesisCost = (query: { limit?: number | undefined }) =>
  cu.thesisBlock * thesisBlocks(query.limit);

const thesisPrice = {
  text: '200 CU per 20 rows of the requested limit, rounded up',
  before: ({ query }: { query: { limit?: number | undefined } }) => {
    const cost = thesisCost(query);
    return { least: cost, most: cost, reveals: 0 };
  },
  after: ({ query }: { query: { limit?: number | undefined } }) => ({
    cu: thesisCost(query),
    reveals: 0,
  }),
  miss: cu.miss,
};

const nothing = z.object({});
const noBody = z.undefined();
const handle = field(
  z.string().check(
    z.minLength(1),
    // The service removes a leading @ from a handle of full length too.
    z.check((payload) => {
      const { value } = payload;
      if (servedHandle(value).length > HANDLE_MAX)
        payload.issues.push({
          code: 'too_big',
          origin: 'string',
          maximum: HANDLE_MAX,
          input: value,
        });
    }),
  ),
  'Handle; case-insensitive; a leading @ is ignored.',
  { maxLength: HANDLE_MAX },
);
const userId = field(z.guid(), 'User id.', { format: 'uuid' });
const address = field(
  bounded(1, ADDRESS_MAX),
  'Wallet address: Solana (base58) or EVM (0x-prefixed).',
);

const token = field(
  bounded(1, ADDRESS_MAX),
  'Token address; Solana addresses are case-sensitive, EVM addresses are lower-cased by the service.',
);

const walk = field(
  z.optional(z.string()),
  'Id of the last item received; the page then contains older items.',
);

const limit = field(
  z.optional(z.int().check(z.gte(1), z.lte(THESIS_LIMIT_MAX))),
  'Rows per page; charged per 20 rows, rounded up.',
  { default: THESIS_LIMIT_DEFAULT },
);

const thesisQuery = z.object({ before: walk, limit });

const calloutQuery = z.object({ before: walk });

const wallet = field(bounded(1, ADDRESS_MAX), 'Wallet.');

const get = {
  method: 'GET',
  params: nothing,
  query: nothing,
  body: noBody,
  retry: 'repeat',
  timeoutSeconds: TIMEOUT_SECONDS,
} as const;

const lookup = {
  ...get,
  group: 'identity',
  answers: () => ({ 200: User }),
  recordType: 'user',
  errors: ['NOT_OBSERVED', 'QUOTA_EXCEEDED', 'REVEAL_LIMIT_REACHED'],
} as const;

const theses = {
  ...get,
  group: 'theses',
  query: thesisQuery,
  recordType: 'page',
  errors: ['QUOTA_EXCEEDED'],
  price: thesisPrice,
} as const;

const launchpad = {
  ...get,
  group: 'launchpad',
  errors: ['QUOTA_EXCEEDED'],
  price: fixedPrice('10 CU per call', cu.launchpad),
} as const;

const callouts = {
  ...launchpad,
  query: calloutQuery,
  answers: () => ({ 200: CalloutPage }),
  recordType: 'page',
} as const;

/** All endpoints, in the order of the service's description. */
export const endpoints = rows({
  'user.handle': () =>
    endpoint({
      ...lookup,
      path: '/v2/user/handle/{handle}',
      summary: 'Look up a user by handle.',
      params: z.object({ handle }),
      price: lookupPrice,
    }),
  'user.wallet': () =>
    endpoint({
      ...lookup,
      path: '/v2/user/wallet/{address}',
      summary: 'Look up a user by wallet address.',
      params: z.object({ address }),
      price: {
        ...revealPrice,
        after: (_, { known: user }) => ({ cu: cu.reveal, reveals: Number(holdsWallet(user)) }),
      },
    }),
  'user.id': () =>
    endpoint({
      ...lookup,
      path: '/v2/user/id/{id}',
      summary: 'Look up a user by id.',
      params: z.object({ id: userId }),
      price: lookupPrice,
    }),
  'user.resolve': () =>
    endpoint({
      ...lookup,
      method: 'POST',
      path: '/v2/user/handle/{handle}/resolve',
      summary: 'Resolve a handle to its wallet, searching live if none is on record.',
      params: z.object({ handle }),
      answers: () => ({ 200: User, 202: Pending }),
      headers: {
        [RESOLVE_HEADER]: {
          description: 'cached: the wallet was on record; live: it was found by a live search.',
          values: ['cached', 'live'],
        },
      },
      errors: [...lookup.errors, 'CONFLICT'],
      price: {
        ...revealPrice,
        text: '30,000 CU, 200 CU on 202 or 404',
        after: (_, answer) =>
          answer.status === 202
            ? { cu: cu.miss, reveals: 0 }
            : { cu: cu.reveal, reveals: Number(holdsWallet(answer.known)) },
      },
      retry: 'never',
      timeoutSeconds: RESOLVE_TIMEOUT_SECONDS,
    }),
  'user.pnl': () =>
    endpoint({
      ...get,
      path: '/v2/user/handle/{handle}/pnl',
      group: 'numbers',
      summary: 'Show the trading numbers of one trader.',
      params: z.object({ handle }),
      answers: () => ({ 200: Pnl }),
      recordType: 'numbers',
      errors: lookup.errors,
      price: {
        ...revealPrice,
        after: (_, { known: pnl }) => ({ cu: cu.reveal, reveals: Number(provesWallet(pnl)) }),
      },
    }),
  'users.pnl': () =>
    endpoint({
      ...get,
      method: 'POST',
      path: '/v2/user/handles/pnl',
      group: 'numbers',
      summary:
        'Show the trading numbers of up to 100 traders; the batch succeeds or fails as a whole.',
      body: z.object({ handles: z.array(handle).check(z.minLength(1), z.maxLength(BATCH_MAX)) }),
      answers: () => ({ 200: PnlBatch }),
      recordType: 'batch',
      errors: ['QUOTA_EXCEEDED', 'REVEAL_LIMIT_REACHED'],
      price: {
        text: '30,000 CU per handle found, 200 CU per handle not found',
        before: ({ body }) => {
          const asked = distinctHandles(body.handles).length;
          return { least: cu.miss * asked, most: cu.reveal * asked, reveals: asked };
        },
        after: ({ body }, { known: { entries = [], missing = [] } }) => {
          const asked = distinctHandles(body.handles).length;
          const hits = Math.min(asked, entries.length);
          const missed = Math.min(asked - hits, missing.length);
          // A handle that the answer does not mention may have been charged too.
          const unmentioned = asked - hits - missed;
          return {
            cu: cu.reveal * hits + cu.miss * missed,
            reveals: Math.min(asked, entries.filter(provesWallet).length),
            ...(unmentioned > 0 && {
              uncertain: cu.reveal * unmentioned,
              uncertainReveals: unmentioned,
            }),
          };
        },
        miss: cu.miss,
      },
      retry: 'never',
    }),
  'thesis.all': () =>
    endpoint({
      ...theses,
      path: '/v2/thesis',
      summary: 'List theses, newest first.',
      answers: () => ({ 200: ThesisPage }),
    }),
  'thesis.token': () =>
    endpoint({
      ...theses,
      path: '/v2/thesis/token/{tokenAddress}',
      summary: 'List theses about a token.',
      params: z.object({ tokenAddress: token }),
      answers: () => ({ 200: TokenThesisPage }),
    }),
  'thesis.user': () =>
    endpoint({
      ...theses,
      path: '/v2/thesis/user/{id}',
      summary: 'List theses by an author.',
      params: z.object({ id: userId }),
      answers: () => ({ 200: UserThesisPage }),
    }),
  'thesis.userToken': () =>
    endpoint({
      ...theses,
      path: '/v2/thesis/user/{id}/token/{tokenAddress}',
      summary: 'List theses by one author about one token.',
      params: z.object({ id: userId, tokenAddress: token }),
      answers: () => ({ 200: UserThesisPage }),
    }),
  'launchpad.user': () =>
    endpoint({
      ...launchpad,
      path: '/v2/launchpad/user/wallet/{wallet}',
      summary: 'Look up the launchpad account of a wallet, if it is on record.',
      params: z.object({ wallet }),
      answers: () => ({ 200: LaunchpadUser }),
      recordType: 'launchpadUser',
      // The description does not say with which of the two codes a wallet without an account is a
      // 404.
      errors: ['NOT_OBSERVED', 'NOT_FOUND', 'QUOTA_EXCEEDED'],
    }),
  'launchpad.callouts': () =>
    endpoint({
      ...callouts,
      path: '/v2/launchpad/thesis',
      summary: 'List the 25 most recent callouts.',
    }),
  'launchpad.callouts.coin': () =>
    endpoint({
      ...callouts,
      path: '/v2/launchpad/thesis/token/{mint}',
      summary: 'List the 25 most recent callouts for a coin.',
      params: z.object({ mint: field(bounded(1, ADDRESS_MAX), 'Coin mint.') }),
    }),
  'launchpad.callouts.wallet': () =>
    endpoint({
      ...callouts,
      path: '/v2/launchpad/thesis/wallet/{wallet}',
      summary: 'List the 25 most recent callouts by a wallet.',
      params: z.object({ wallet }),
    }),
  'launchpad.board': () =>
    endpoint({
      ...launchpad,
      path: '/v2/launchpad/leaderboard/traders',
      summary: 'Show the top 100 traders in a snapshot of the leaderboard.',
      query: z.object({
        period: field(z.optional(z.enum(boardPeriods)), 'daily, weekly or monthly.', {
          default: 'weekly',
        }),
        at: field(
          z.optional(z.string()),
          'Epoch ms or ISO time; returns the latest snapshot at or before that time.',
        ),
      }),
      answers: () => ({ 200: Board }),
      recordType: 'board',
    }),
  me: () =>
    endpoint({
      ...get,
      path: '/v2/me',
      group: 'account',
      summary: 'Show the plan, scopes, entitlement and usage of the key.',
      answers: () => ({ 200: Me }),
      recordType: 'me',
      errors: [],
      price: fixedPrice('free', 0),
    }),
});

export type EndpointId = keyof typeof endpoints;
export const endpointIds = Object.keys(endpoints) as EndpointId[];

type Row<Id extends EndpointId> = (typeof endpoints)[Id];
/** The validated input of a call. */
export type RequestOf<Id extends EndpointId> = Request<
  z.output<Row<Id>['params'] & FieldShapes>,
  z.output<Row<Id>['query'] & FieldShapes>,
  z.output<Row<Id>['body']>
>;

/** A successful answer of an endpoint, in which any documented field may be missing. */
export type KnownAnswerOf<Id extends EndpointId> = KnownAnswer<AnswersOf<Row<Id>>>;

/** Two paths that are not in the table: the live feed, and the OpenAPI document. */
export const SOCKET_PATH = '/v2/ws';
export const SOCKET_PRICE = `${unitsText(cu.socketMinute)} per minute while the connection is open`;
export const OPENAPI_PATH = '/openapi.json';
