import { isAbsolute, relative } from 'node:path';
import { fieldPaths } from '../../contract/paths.ts';
import { TailRunRecord } from '../../contract/records/tail-run.ts';
import { span } from '../format/time.ts';
import type { View } from '../view.ts';

/** A living tail notes its state more often than this. */
const LATE_MS = 60_000;

/** The state in words, with the time since when nothing was heard of the run. */
function stateText({ words, state, updatedAt, endedAt }: TailRunRecord, now: number): string {
  const ago = `${span(Math.max(0, now - (endedAt ?? updatedAt)))} ago`;
  // A terminal without Unicode cannot show the dot of the heartbeat.
  const text = words.replaceAll(' · ', ', ');
  if (state === 'killed') return `${text}, last seen ${ago}`;
  if (endedAt !== null) return `${text}, ${ago}`;
  return now - updatedAt < LATE_MS ? text : `${text}, last noted ${ago}`;
}

/** A path as one would type it here; other outputs are words. */
function outputText({ output }: TailRunRecord, cwd: string): string {
  const path = isAbsolute(output) ? relative(cwd, output) : output;
  return path.length < output.length ? path : output;
}

/** How the runs are shown to somebody in a folder; `ended` runs are left out. */
export const tailsView = (now: number, cwd: string, ended: number): View<TailRunRecord> => ({
  columns: [
    {
      title: 'output',
      kind: 'text',
      value: (run) => outputText(run, cwd),
      field: 'output',
      min: 16,
      keepsEnd: true,
    },
    { title: 'feed', kind: 'text', field: 'feed', min: 10, rank: 1 },
    {
      title: 'state',
      kind: 'text',
      value: (run) => stateText(run, now),
      field: 'words',
      min: 20,
      wrap: true,
    },
    { title: 'verified', kind: 'time', field: 'verifiedAt' },
    { title: 'posts/h', kind: 'integer', field: 'postsPerHour', rank: 3 },
    { title: 'CU today', kind: 'integer', field: 'cuToday' },
    {
      title: 'CU left',
      kind: 'text',
      value: ({ left, leftOf }) =>
        left === null ? null : `${left.toLocaleString('en-US')} of ${leftOf}`,
      field: 'left',
      rank: 1,
    },
    { title: 'pid', kind: 'text', field: 'pid', rank: 4 },
  ],
  fields: () => fieldPaths(TailRunRecord),
  empty:
    ended === 0
      ? 'no tail or relay has run on this machine within a day'
      : `no tail or relay runs on this machine; ${ended} ended within a day: add --all`,
});
