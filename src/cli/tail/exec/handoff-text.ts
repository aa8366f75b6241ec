import { countText } from '../../../base/units.ts';
import { span } from '../../../output/format/time.ts';
import { safeLine } from '../../../output/terminal/safe-text.ts';
import type { Batch, HandoffHealth, HandoffNotice } from '../../../tail/exec/delivery.ts';

export const postsText = (count: number): string => countText(count, 'post');

const batchText = ({ number, rows }: Batch) => `batch ${number} (${postsText(rows.length)})`;

/** A notice of the handoff as a line for stderr. */
export function handoffText(notice: HandoffNotice, deadLetters: string): string {
  const { batch } = notice;
  switch (notice.kind) {
    case 'failed':
      return `the command failed on ${batchText(batch)}: ${safeLine(notice.why)}; retrying in ${waitText(notice.waitMs)}`;
    case 'recovered':
      return `the command accepted ${batchText(batch)} after ${countText(notice.attempts, 'attempt')}`;
    case 'dead':
      return `the command failed on ${batchText(batch)} after ${countText(notice.attempts, 'attempt')}: ${safeLine(notice.why)}; the batch was saved to ${deadLetters}`;
  }
}

const waitText = (ms: number) => (ms < 1_000 ? `${Math.round(ms)}ms` : span(ms));

/** The last line of a run, with the number of posts that were handed over. */
export function handedOverText(
  { batches, rows, deadRows, pendingRows }: HandoffHealth,
  resumes: boolean,
): string {
  const parts = [
    `handed over ${postsText(rows)} in ${countText(batches, 'batch', 'batches')}`,
    deadRows > 0 ? `${postsText(deadRows)} in the dead-letter file` : '',
    pendingRows > 0
      ? `${postsText(pendingRows)} ${resumes ? 'left for the next run' : 'not handed over'}`
      : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The problems of a handoff, for the heartbeat; empty if there are no problems. */
export function handoffStateText(
  { pendingRows, oldestAt, deadRows, lastExit }: HandoffHealth,
  now: number,
): string {
  const age = oldestAt === null ? '' : `, the oldest from ${span(Math.max(0, now - oldestAt))} ago`;
  const parts = [
    pendingRows > 0 ? `${postsText(pendingRows)} not acknowledged${age}` : '',
    lastExit !== null && lastExit !== 0 ? `the command failed with exit code ${lastExit}` : '',
    deadRows > 0 ? `${postsText(deadRows)} in the dead-letter file` : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
