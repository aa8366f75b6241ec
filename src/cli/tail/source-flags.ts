import { usageError } from '../../base/failure.ts';
import type { Flag } from '../args/option.ts';
import type { storeOptions, tailOptions } from './flags.ts';

/** From where a tail reads posts: the value of --via, or files. */
export type TailSource = 'auto' | 'ws' | 'poll' | 'store' | 'files';

const service = ['auto', 'ws', 'poll'] as const;
/** The sources after whose posts a later run continues by its own position. */
const positioned = [...service, 'store'] as const;
const all = [...positioned, 'files'] as const;

/** The sources that accept each flag of a tail. A flag without a row does not compile. */
const acceptedBy: Readonly<
  Record<keyof typeof tailOptions | keyof typeof storeOptions, readonly TailSource[]>
> = {
  via: positioned,
  fill: ['auto', 'store'],
  backfill: positioned,
  since: all,
  count: all,
  // Up to now, the WebSocket has nothing.
  noFollow: ['auto', 'poll', 'store'],
  duration: positioned,
  checkpoint: positioned,
  rotate: positioned,
  exec: all,
  batch: all,
  linger: all,
  tries: all,
  lag: service,
  // Authors are looked up for CU, whatever the source of their posts.
  waitForBudget: positioned,
  confluence: all,
  cooldown: all,
  replay: ['files'],
  speed: ['files'],
  status: positioned,
  heartbeat: positioned,
  logFormat: all,
};

/** What to do in place of a flag that a source refuses. */
const hints: Readonly<Record<TailSource, string>> = {
  auto: 'use another --via',
  ws: 'use --via poll or --via store',
  poll: 'use another --via',
  store: 'set it for the relay, which reads the service',
  files: 'a replay reads the files from start to end',
};

interface SourceFlags {
  readonly replay: readonly string[];
  readonly via?: TailSource;
}

/** Throws for a flag that the source of the run does not accept, before anything is paid. */
export function checkSourceFlags(
  options: Readonly<Record<string, Pick<Flag<unknown>, 'defaultValue' | 'long'>>>,
  flags: SourceFlags,
): void {
  // A feed that is only polled has no --via.
  const { replay, via = 'poll' } = flags;
  const source = replay.length > 0 ? 'files' : via;
  const values: Readonly<Record<string, unknown>> = { ...flags };
  for (const [name, accepting] of Object.entries(acceptedBy)) {
    const option = options[name];
    if (!option || accepting.includes(source) || !isGiven(values[name], option)) continue;
    if (source === 'files')
      throw usageError(`${option.long} cannot be used with --replay`, hints.files);
    if (name === 'speed') throw usageError('--speed requires --replay', 'add --replay FILE');
    if (name === 'fill')
      throw usageError(
        `--fill requires --via store or --via auto, not --via ${source}`,
        'use --via store',
      );
    throw usageError(`${option.long} cannot be combined with --via ${source}`, hints[source]);
  }
}

function isGiven(value: unknown, { defaultValue }: Pick<Flag<unknown>, 'defaultValue'>): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== false && value !== defaultValue;
}
