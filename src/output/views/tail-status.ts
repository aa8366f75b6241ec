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
    { title: 'tail', kind: 'text', value: (row) => row.tail, field: 'tail' },
    { title: 'state', kind: 'status', value: (row) => row.state, field: 'state' },
    { title: 'mode', kind: 'text', value: (row) => row.mode, field: 'mode' },
    { title: 'posts', kind: 'integer', value: (row) => row.rows, field: 'rows' },
    { title: 'gaps', kind: 'integer', value: (row) => row.gaps, field: 'gaps' },
    { title: 'verified', kind: 'age', value: (row) => row.verifiedTo, field: 'verifiedTo' },
    { title: 'last post', kind: 'age', value: (row) => row.lastPostAt, field: 'lastPostAt' },
    { title: 'CU', kind: 'integer', value: (row) => row.spentAtMost, field: 'spentAtMost' },
  ],
  card: {
    title: (row) => row.tail,
    lines: [
      { label: 'state', kind: 'text', value: stateText },
      { label: 'mode', kind: 'text', value: modeText },
      { label: 'waits until', kind: 'time', value: (row) => row.waitsUntil ?? undefined },
      { label: 'delivered', kind: 'text', value: delivered },
      { label: 'handed over', kind: 'text', value: handedOver },
      { label: 'verified up to', kind: 'time', value: (row) => row.verifiedTo },
      { label: 'last post', kind: 'time', value: (row) => row.lastPostAt },
      { label: 'cost', kind: 'text', value: cost },
      {
        label: 'run time',
        kind: 'text',
        value: (row) => span(Math.max(0, (row.up ? now : row.updatedAt) - row.startedAt)),
      },
      { label: 'written by', kind: 'text', value: (row) => `trdr ${row.command}, version ${row.version}` },
    ],
  },
  fields: fieldPaths(TailStatusRecord),
  empty: 'no status to show',
});
