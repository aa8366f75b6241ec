import { TailRunRecord } from '../../contract/records/tail-run.ts';
import { tailsView } from '../../output/views/tails.ts';
import { readTailRuns } from '../../state/tail-runs.ts';
import { command } from '../command.ts';
import page from './tails.md';

export const tails = command({
  path: 'tails',
  page,
  common: ['output'],
  record: () => TailRunRecord,
  exits: [0, 2, 9],
  async run({ terminal, settings, out }) {
    const now = terminal.io.clock.now();
    const runs = readTailRuns(settings.folders.state, now).toSorted(byStateAndTime);
    await out.print(tailsView(now), runs);
  },
});

/** What runs comes first, then what ended last. */
const byStateAndTime = (one: TailRunRecord, other: TailRunRecord): number =>
  (other.endedAt ?? Number.POSITIVE_INFINITY) - (one.endedAt ?? Number.POSITIVE_INFINITY) ||
  one.startedAt - other.startedAt;
