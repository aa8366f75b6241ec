import { Failure } from '../../base/failure.ts';
import { fileFailure, readBounded } from '../../base/files.ts';
import { positiveDuration } from '../../base/time-values.ts';
import { TailStatusRecord } from '../../contract/records/tail-status.ts';
import { span } from '../../output/format/time.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { tailStatusView } from '../../output/views/tail-status.ts';
import {
  type HealthVerdict,
  judgeStatus,
  readStatusFile,
  type SavedStatus,
} from '../../tail/health/read-status.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';

/** The maximum size of a status file in bytes. */
const LARGEST = 1024 * 1024;

export const tailStatus = command({
  path: 'tail status',
  summary: 'Show the state of a tail from its status file',
  about: [
    'Reads the file that "thesis tail", "launchpad tail" or "thesis relay" writes with --status FILE. Sends no requests.',
    'Exits 9 if the tail has stopped or has been hanging for 30 seconds, and 0 otherwise. With --max-lag D, also exits 9 if the feed was last verified longer ago than D. The same applies if the command of --exec has not acknowledged a post that is older than D. Use "trdr tail status" as a probe in Kubernetes or Docker.',
    'If the service fails, the tail still counts as running, because a restart would not help; with --max-lag D, "trdr tail status" exits 9 once the last verification is older than D.',
  ],
  args: [{ name: 'FILE', help: 'the status file', complete: 'file' }],
  options: {
    maxLag: value('--max-lag', 'exit 9 if the feed was last verified longer ago than this', positiveDuration),
  },
  common: ['output'],
  examples: [
    {
      run: 'trdr tail status theses.prom',
      does: 'show whether the tail runs, and up to when the feed is verified',
    },
    {
      run: 'trdr tail status theses.prom --max-lag 5m -q > /dev/null',
      does: 'use the exit code as a readiness probe',
    },
  ],
  calls: [],
  record: () => TailStatusRecord,
  exits: [0, 2, 9],
  parse: ([path = ''], { maxLag }) => ({ path, maxLag }),
  async run(context, { path, maxLag }) {
    const status = statusIn(path);
    const now = context.io.clock.now();
    const verdict = judgeStatus(status, now, maxLag);
    const { progressAt: _, ...shown } = status;
    await context.printOne(tailStatusView(now), {
      state: verdict,
      ...shown,
      updatedAgo: Math.max(0, now - status.updatedAt),
      verifiedAgo: status.verifiedTo === null ? null : Math.max(0, now - status.verifiedTo),
    });
    if (verdict !== 'healthy' && verdict !== 'starting') throw unhealthy(path, verdict, status, now, maxLag);
    return 0;
  },
});

function statusIn(path: string): SavedStatus {
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch (error) {
    throw fileFailure('read', path, error);
  }
  if (text === undefined) {
    throw new Failure('local', `status file not found: ${path}`, {
      code: 'STATUS_FILE',
      hint: `start the tail with --status ${path}`,
    });
  }
  return readStatusFile(text);
}

function unhealthy(
  path: string,
  verdict: HealthVerdict,
  status: SavedStatus,
  now: number,
  maxLag = Number.POSITIVE_INFINITY,
): Failure {
  const ago = (at: number) => `${span(Math.max(0, now - at))} ago`;
  const what: Readonly<Record<HealthVerdict, string>> = {
    healthy: '',
    starting: '',
    stopped: `stopped ${ago(status.updatedAt)}${status.exitCode === null ? '' : ` with exit code ${status.exitCode} (${safeLine(status.endReason ?? '')})`}`,
    stale: `was last active ${ago(status.progressAt)}`,
    lagging: laggingText(status, now, maxLag),
  };
  const name = safeLine(status.tail || path);
  return new Failure('local', `the tail ${name} ${what[verdict]}`, {
    code: `TAIL_${verdict.toUpperCase()}`,
    hint: status.serviceUp
      ? 'to see why, read what the tail has printed on stderr'
      : 'the service did not respond to the tail: run "trdr doctor"',
  });
}

function laggingText({ verifiedTo, startedAt, handoff }: SavedStatus, now: number, maxLag: number): string {
  const ago = (ms: number) => `${span(Math.max(0, ms))} ago`;
  if (handoff && now - (verifiedTo ?? startedAt) <= maxLag)
    return `has a post from ${ago(handoff.oldestAge)} that its command has not acknowledged`;
  return verifiedTo === null
    ? `has not caught up with its feed since it was started ${ago(now - startedAt)}`
    : `last verified its feed ${ago(now - verifiedTo)}`;
}
