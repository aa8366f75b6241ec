import { integer } from '../../base/amounts.ts';
import { duration, positiveDuration } from '../../base/durations.ts';
import { oneOf } from '../../base/values.ts';
import { SOCKET_TOKENS_MAX, THESIS_BLOCK } from '../../contract/limits.ts';
import { thesisCall, thesisSource } from '../../core/pages/feeds.ts';
import { createFilter, normalToken } from '../../core/pages/filter.ts';
import { feedIdOf } from '../../store/keys.ts';
import { keyFacts, thesisFeedName } from '../../tail/source.ts';
import { flag, list, valueOr } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { tokenAddresses } from '../lookup/token.ts';
import { accountSharing } from '../run/answers.ts';
import { approve } from '../run/approve.ts';
import { printDryRun } from '../run/dry-run.ts';
import { serviceOptions } from '../tail/flags.ts';
import { tailPlan } from '../tail/plan.ts';
import { runFeed } from '../tail/run-feed.ts';
import { feedWords } from '../tail/run-note.ts';
import { socketOf } from '../tail/socket.ts';
import page from './thesis-relay.md';

export const thesisRelay = command({
  path: 'thesis relay',
  page,
  options: {
    token: list('--token', 'only theses about this token (address or symbol)', text('token')),
    via: valueOr('--via', 'how to follow the feed', oneOf('auto', 'ws', 'poll'), 'auto'),
    lag: valueOr(
      '--lag',
      'target delay when polling; a longer delay costs less',
      duration,
      10_000,
      '10s',
    ),
    waitForBudget: flag('--wait-for-budget', 'sleep until a used-up budget or allowance renews'),
    keep: valueOr(
      '--keep',
      'maximum age of the posts in the store',
      positiveDuration,
      86_400_000,
      '24h',
    ),
    keepRows: valueOr(
      '--keep-rows',
      'maximum number of posts in the store',
      integer({ min: 1 }),
      200_000,
      '200k',
    ),
    ...serviceOptions,
  },
  common: ['service', 'money'],
  calls: ['ws', 'thesis.all', 'thesis.token', 'me'],
  exits: [129, 130, 143],
  async run(context, { token, via, lag, keep, keepRows, waitForBudget, ...service }) {
    const tokens = await tokenAddresses(token, context);
    const tokenAddress = tokens.length === 1 ? tokens[0] : undefined;
    const page = thesisCall({ tokenAddress }, { limit: THESIS_BLOCK });
    const shape = { durationMs: undefined, socket: via !== 'poll', lagMs: lag, page };
    const cost = tailPlan(shape);
    if (await printDryRun(context, cost.calls)) return;
    const store = await context.service.needStore();
    await approve(cost, context);
    const client = await context.service.client();
    const normal = tokens.map(normalToken).sort();
    const { runRelay } = await import('../store/relay.ts');
    const { RelayState, watchRelay } = await import('../store/watch-relay.ts');
    const { io, signal } = context.terminal;
    const { settings } = context;
    const state = new RelayState();
    const ledger = await context.service.ledger();
    const world = {
      io,
      signal,
      notice: context.terminal.notice,
      diskWait: context.out.diskWait,
      scope: context.service.scope,
      store,
      startLine: (line: string) => context.service.permission.withLimit(line),
      source: thesisSource(client, { tokenAddress }),
      connect:
        via === 'poll' ? undefined : socketOf(context, client, await context.service.target()),
      key: keyFacts(client, ledger, io.clock.now, await accountSharing(context)),
      limits: async () => (await ledger.limits?.()) ?? '',
      left: client.left,
      spent: () => client.spent,
    };
    const plan = {
      tokens: normal,
      keepMs: keep,
      keepRows,
      via,
      lagMs: lag,
      waitForBudget,
      limitLeft: () => context.service.permission.left,
      socketShare: settings.socketShare,
      feed: thesisFeedName(undefined, normal),
      ...postsOf(tokens),
    };
    const followed = { ...service, feed: feedWords('theses', [], token), isRelay: true };
    await runFeed(context, followed, async () => ({
      watched: watchRelay(state, io.clock, {
        link: store.link,
        feed: () => store.keys.feed(feedIdOf({ tokens: normal })),
      }),
      async run() {
        await runRelay(world, plan, state);
        return {};
      },
      async close() {},
    }));
  },
});

/** The posts that the relay reads from the socket and from pages, and those that it stores. */
function postsOf(tokens: string[]) {
  const byToken = tokens.length > 0 && tokens.length <= SOCKET_TOKENS_MAX;
  return {
    subscription: byToken ? ({ type: 'tokens', tokens } as const) : ({ type: 'all' } as const),
    carries: byToken ? createFilter({ tokens }) : undefined,
    scope: createFilter({ tokens: tokens.length === 1 ? tokens : [] }),
    filter: createFilter({ tokens }),
  };
}
