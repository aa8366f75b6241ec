import { TailRunRecord } from '../../contract/records/tail-run.ts';
import { tailsView } from '../../output/views/tails.ts';
import { readTailRuns } from '../../state/tail-runs.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import page from './tails.md';

export const tails = command({
  path: 'tails',
  page,
  options: { all: flag('--all', 'also those that ended within a day') },
  common: ['output'],
  record: () => TailRunRecord,
  exits: [9],
  async run({ terminal, settings, out }, { all }) {
    const { clock, cwd } = terminal.io;
    const now = clock.now();
    const { profile } = settings.flags;
    const runs = readTailRuns(settings.folders.state, now)
      .filter((run) => profile === undefined || run.profile === profile)
      .toSorted(byStateAndTime);
    const shown = all ? runs : runs.filter(({ state }) => state !== 'ended');
    await out.print(tailsView(now, cwd, runs.length - shown.length), shown);
  },
});

/** What runs comes first, then what ended last. */
const byStateAndTime = (one: TailRunRecord, other: TailRunRecord): number =>
  (other.endedAt ?? Number.POSITIVE_INFINITY) - (one.endedAt ?? Number.POSITIVE_INFINITY) ||
  one.startedAt - other.startedAt;
