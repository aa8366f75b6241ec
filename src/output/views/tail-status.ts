import { group, unitsText } from '../../base/units.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { TailStatusRecord } from '../../contract/records/tail-status.ts';
import { span } from '../format/time.ts';
import type { View } from '../view.ts';

const many = (count: number, one: string, more = `${one}s`) => `${group(count)} ${count === 1 ? one : more}`;

const delivered = ({ rows, gaps, reconnects }: TailStatusRecord) =>
  `${many(rows, 'post')}, ${gaps === 0 ? 'no gaps' : many(gaps, 'gap')}, ${many(reconnects, 'reconnect')}`;

const cost = ({ spent, spentAtMost }: TailStatusRecord) =>
  spentAtMost > spent ? `${unitsText(spentAtMost)} at most` : unitsText(spent);

const stateText = ({ state, exitCode, endReason }: TailStatusRecord) =>
  exitCode === null ? state : `${state}: exit code ${exitCode} (${endReason})`;

const modeText = ({ mode, serviceUp, up }: TailStatusRecord) =>
  `${mode}${up && !serviceUp ? ', but the service does not respond' : ''}`;

function handedOver({ handoff }: TailStatusRecord): string | undefined {
  if (handoff === null) return undefined;
  const { batches, rows, retries, deadRows, pendingRows, oldestAge, lastExit } = handoff;
  const parts = [
    `${many(rows, 'post')} in ${many(batches, 'batch', 'batches')}`,
    retries > 0 ? many(retries, 'retry', 'retries') : '',
    deadRows > 0 ? `${many(deadRows, 'post')} in the dead-letter file` : '',
    pendingRows > 0
      ? `${many(pendingRows, 'post')} not acknowledged, the oldest from ${span(oldestAge)} ago`
      : '',
    lastExit !== null && lastExit !== 0 ? `last exit code ${lastExit}` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The state of a tail. The run time of a tail that is still running ends at `now`. */
export const tailStatusView = (now: number): View<TailStatusRecord> => ({
  columns: [
    { title: 'tail', kind: 'text', field: 'tail' },
    { title: 'state', kind: 'status', field: 'state' },
    { title: 'mode', kind: 'text', field: 'mode' },
    { title: 'posts', kind: 'integer', field: 'rows' },
    { title: 'gaps', kind: 'integer', field: 'gaps' },
    { title: 'verified', kind: 'age', field: 'verifiedTo' },
    { title: 'last post', kind: 'age', field: 'lastPostAt' },
    { title: 'CU', kind: 'integer', field: 'spentAtMost' },
  ],
  card: {
    title: (row) => row.tail,
    lines: [
      { title: 'state', kind: 'text', value: stateText },
      { title: 'mode', kind: 'text', value: modeText },
      { title: 'waits until', kind: 'time', value: (row) => row.waitsUntil ?? undefined },
      { title: 'delivered', kind: 'text', value: delivered },
      { title: 'handed over', kind: 'text', value: handedOver },
      { title: 'verified up to', kind: 'time', field: 'verifiedTo' },
      { title: 'last post', kind: 'time', field: 'lastPostAt' },
      { title: 'cost', kind: 'text', value: cost },
      {
        title: 'run time',
        kind: 'text',
        value: (row) => span(Math.max(0, (row.up ? now : row.updatedAt) - row.startedAt)),
      },
      { title: 'written by', kind: 'text', value: (row) => `trdr ${row.command}, version ${row.version}` },
    ],
  },
  fields: fieldPaths(TailStatusRecord),
  empty: 'no status to show',
});
