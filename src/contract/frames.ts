import * as z from 'zod/mini';
import { bounded, field, nullable } from './field.ts';
import { ADDRESS_MAX, SOCKET_TOKENS_MAX } from './limits.ts';
import { ThesisFrameData } from './records/thesis.ts';

/** What a connection is subscribed to: everything, or at most 50 tokens. */
const Subscription = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('all') }),
  z.looseObject({ type: z.literal('tokens'), tokens: z.array(z.string()) }),
]);
export type Subscription = z.infer<typeof Subscription>;

/** What a client can ask for. Nothing promises that the service accepts more members. */
const RequestedSubscription = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('all') }),
  z.strictObject({
    type: z.literal('tokens'),
    tokens: field(z.array(bounded(1, ADDRESS_MAX)).check(z.minLength(1)), 'Addresses of tokens.', {
      maxItems: SOCKET_TOKENS_MAX,
    }),
  }),
]);

/** The frames that the client sends. */
export const ClientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('subscribe'), subscription: RequestedSubscription }),
  z.strictObject({ type: z.literal('unsubscribe') }),
]);

const ReadyFrame = z.looseObject({ type: z.literal('ready'), connectionId: z.string() });
const SubscriptionFrame = z.looseObject({
  type: z.literal('subscription'),
  subscription: nullable(
    Subscription,
    'The complete subscription after the change; null after unsubscribing.',
  ),
});
const ReplacedFrame = z.looseObject({ type: z.literal('replaced'), previous: Subscription });
const ThesisFrame = z.looseObject({ type: z.literal('thesis'), data: ThesisFrameData });
const ErrorFrame = z.looseObject({ type: z.literal('error'), error: z.string() });

/** The frames that the server sends. */
export const ServerFrame = z.discriminatedUnion('type', [
  ReadyFrame,
  SubscriptionFrame,
  ReplacedFrame,
  ThesisFrame,
  ErrorFrame,
]);

/** The close code of a WebSocket whose key has no units left. */
export const CLOSE_QUOTA = 1008;
