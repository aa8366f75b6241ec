import { Failure } from '../../base/failure.ts';
import type { HandoffHealth } from '../exec/handoff-meter.ts';
import { healthModes, type TailHealth } from './health.ts';

/** The content of a status file. All times are epoch milliseconds. */
export interface SavedStatus
  extends Pick<
    TailHealth,
    | 'ready'
    | 'serviceUp'
    | 'mode'
    | 'waitsUntil'
    | 'startedAt'
    | 'updatedAt'
    | 'progressAt'
    | 'verifiedTo'
    | 'lastPostAt'
    | 'rows'
    | 'gaps'
    | 'reconnects'
    | 'spent'
    | 'spentAtMost'
  > {
  readonly up: boolean;
  /** How the run ended: null while it is up, and in the files of earlier versions. */
  readonly exitCode: number | null;
  readonly endReason: string | null;
  readonly tail: string;
  readonly command: string;
  readonly version: string;
  readonly lastPostLag: number | null;
  /** The start of the last complete verification; null before it. */
  readonly proofAt: number | null;
  readonly handoff: SavedHandoff | null;
}

/**
 * The handoff to a command. `oldestAge` is the age of the oldest post that the command has not acknowledged,
 * in milliseconds.
 */
export type SavedHandoff = Omit<HandoffHealth, 'oldestAt'> & { readonly oldestAge: number };

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^trdr_tail_(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} (\S+)$/;

const plain = (text: string) => text.replace(/\\(.)/g, (_, found: string) => (found === 'n' ? '\n' : found));

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = Object.create(null);
  for (const [, name = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = plain(value);
  return labels;
}

/** Parses a status file. Throws if the text is not a complete status. */
export function readStatusFile(text: string): SavedStatus {
  if (!text.endsWith('\n# EOF\n')) throw notStatus();
  const samples = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) continue;
    const list = samples.get(name) ?? [];
    list.push({ labels: labelsOf(labels), value: Number(value) });
    samples.set(name, list);
  }
  const number = (name: string): number | null => {
    const value = samples.get(name)?.[0]?.value;
    return value !== undefined && Number.isFinite(value) ? value : null;
  };
  const needed = (name: string): number => {
    const value = number(name);
    if (value === null) throw notStatus();
    return value;
  };
  const time = (name: string): number | null => {
    const value = number(name);
    return value === null ? null : Math.round(value * 1_000);
  };
  const about = samples.get('build_info')?.[0]?.labels ?? {};
  const mode = samples.get('mode')?.find(({ value }) => value === 1)?.labels['mode'];
  const updatedAt = Math.round(needed('update_timestamp_seconds') * 1_000);
  const proofAge = time('proof_age_seconds');
  return {
    tail: about['tail'] ?? '',
    command: about['command'] ?? '',
    version: about['version'] ?? '',
    up: needed('up') === 1,
    exitCode: number('exit_code'),
    endReason: samples.get('exit_code')?.[0]?.labels['reason'] ?? null,
    ready: needed('ready') === 1,
    serviceUp: number('service_up') !== 0,
    mode: healthModes.find((each) => each === mode) ?? 'polling',
    waitsUntil: time('waits_until_timestamp_seconds'),
    startedAt: Math.round(needed('start_timestamp_seconds') * 1_000),
    updatedAt,
    progressAt: Math.round(needed('progress_timestamp_seconds') * 1_000),
    verifiedTo: time('verified_timestamp_seconds'),
    proofAt: proofAge === null ? null : updatedAt - proofAge,
    lastPostAt: time('last_post_timestamp_seconds'),
    lastPostLag: time('last_post_lag_seconds'),
    rows: number('rows_total') ?? 0,
    gaps: number('gaps_total') ?? 0,
    reconnects: number('reconnects_total') ?? 0,
    spent: number('spent_units_total') ?? 0,
    spentAtMost: number('spent_at_most_units') ?? 0,
    handoff: handoffIn(number),
  };
}

/** The handoff of a tail; null for a tail without a command. */
function handoffIn(number: (name: string) => number | null): SavedHandoff | null {
  const count = (name: string) => number(`handoff_${name}`);
  const batches = count('batches_total');
  if (batches === null) return null;
  return {
    batches,
    rows: count('rows_total') ?? 0,
    retries: count('retries_total') ?? 0,
    deadBatches: count('dead_batches_total') ?? 0,
    deadRows: count('dead_rows_total') ?? 0,
    pendingRows: count('pending_rows') ?? 0,
    oldestAge: Math.round((count('oldest_age_seconds') ?? 0) * 1_000),
    lastExit: count('last_exit_code'),
  };
}

const notStatus = () =>
  new Failure('local', 'the file is not the status file of a tail, or is incomplete', {
    code: 'STATUS_FILE',
    hint: 'use the file that the tail writes with --status',
  });

/** The state of a tail in one word. */
export type HealthVerdict = 'healthy' | 'starting' | 'lagging' | 'stale' | 'stopped';

/** A status without progress for this long is stale. A running tail writes its status at least every five seconds. */
const STALE_MS = 30_000;

/**
 * Derives the state of a tail from its status file. The lag is the longer of two times: the time since the last
 * verification (before the first one, since the start), and the age of the oldest post that a command has not
 * acknowledged.
 */
export function judgeStatus(
  status: SavedStatus,
  now: number,
  maxLagMs = Number.POSITIVE_INFINITY,
): HealthVerdict {
  if (!status.up) return 'stopped';
  // Use the absolute difference: if the clock was set back, `progressAt` can be in the future. A running tail
  // corrects it with its next write; a tail that hangs must count as stale.
  if (Math.abs(now - status.progressAt) > STALE_MS) return 'stale';
  if (now - (status.proofAt ?? status.startedAt) > maxLagMs) return 'lagging';
  if (status.handoff && status.handoff.oldestAge > maxLagMs) return 'lagging';
  return status.ready ? 'healthy' : 'starting';
}
