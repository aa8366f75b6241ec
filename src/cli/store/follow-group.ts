import { instantAt } from '../../base/times.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import type { View } from '../../output/view.ts';
import type { GroupOptions, GroupPlace } from '../../store/feed/group-batches.ts';
import { printing } from '../../tail/output/run-writer.ts';
import type { PostFields } from '../../tail/post-row.ts';
import {
  type BatchDelivery,
  CommandBatches,
  PrintedBatches,
} from '../../tail/stored/batch-delivery.ts';
import { Ending } from '../../tail/stored/ending.ts';
import { GroupMember } from '../../tail/stored/group-member.ts';
import { fromTime } from '../../tail/stored/streamed-row.ts';
import type { Context } from '../run/context.ts';
import { storeNow } from '../run/open-store.ts';
import { openPostPrinter } from '../tail/output/open-writer.ts';
import type { Feeder } from '../tail/run-feed.ts';
import {
  createStoreProgress,
  type StoredOutput,
  type StoredPosts,
  storedFeeder,
} from './stored-feeder.ts';

interface GroupPlan extends StoredPosts {
  readonly group: string;
  readonly shared: boolean;
  readonly view: View<PostFields>;
}

/** Opens a run that reads a feed as a member of a group. */
export async function openMember(context: Context, plan: GroupPlan): Promise<Feeder> {
  const { settings, terminal } = context;
  const { store, flags, filter, group } = plan;
  const floor =
    flags.since === undefined
      ? Number.NEGATIVE_INFINITY
      : instantAt(flags.since, await storeNow(store, terminal.io.clock), settings.utc);
  const { output, delivery } = await (flags.exec === undefined ? openPrinting : openExec)(
    context,
    plan,
  );
  const names = { feedId: plan.feedId, name: `group ${safeLine(group)}` };
  const ending = new Ending(terminal.signal, output.closed);
  const progress = createStoreProgress(terminal, names);
  const source = new GroupMember({
    group: groupOptions(context, plan),
    delivery,
    progress,
    ending,
    isWanted: fromTime(floor, filter),
    count: flags.count,
  });
  return storedFeeder(context, plan, { source, output, progress, ending, names });
}

/** How the member reaches its group, and what this machine remembers of it. */
function groupOptions(
  { terminal }: Context,
  { store, feedId, group, shared, flags }: GroupPlan,
): Omit<GroupOptions, 'batch' | 'lingerMs'> {
  const { memory } = store;
  const id = `${feedId}/${group}`;
  return {
    open: () => store.link.open(),
    feed: store.keys.feed(feedId),
    name: group,
    shared,
    machine: store.machine,
    clock: terminal.io.clock,
    start: flags.since === undefined ? '$' : '0',
    memory: {
      read: () => memory.read().groups[id],
      save: (place: GroupPlace) =>
        memory.update({ groups: { ...memory.read().groups, [id]: place } }),
    },
  };
}

/** Where the batches of a member go. */
interface MemberOutput {
  readonly output: StoredOutput;
  readonly delivery: BatchDelivery;
}

async function openPrinting(context: Context, { view }: GroupPlan): Promise<MemberOutput> {
  const writer = await openPostPrinter(context, view);
  return { output: printing(writer), delivery: new PrintedBatches(writer) };
}

async function openExec(
  context: Context,
  { view, flags, feedId, group }: GroupPlan,
): Promise<MemberOutput> {
  const { openCourier } = await import('../tail/exec/open-handoff.ts');
  const courier = await openCourier(context, {
    view,
    flags,
    feed: `group ${group} of ${feedId}`,
    checkpoint: undefined,
    remembered: true,
  });
  return {
    output: {
      closed: undefined,
      check: () => courier.check(),
      handoff: () => courier.health([]),
      async close() {
        courier.release();
      },
    },
    delivery: new CommandBatches(courier, context.terminal.signal),
  };
}
