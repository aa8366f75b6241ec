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
  confluence: [...positioned, 'files'],
  cooldown: [...positioned, 'files'],
  replay: ['files'],
  speed: ['files'],
  status: positioned,
  heartbeat: positioned,
  logFormat: all,
};

/** What a flag that few sources accept requires. */
const requirements: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  speed: ['--replay', 'add --replay FILE'],
};

/** How a refusal ends, and what to do in place of it. */
const refusals: Readonly<Record<TailSource, readonly [what: string, hint: string]>> = {
  auto: ['cannot be combined with --via auto', 'use another --via'],
  ws: ['cannot be combined with --via ws', 'use --via poll or --via store'],
  poll: ['cannot be combined with --via poll', 'use another --via'],
  store: ['cannot be combined with --via store', 'set it for the relay, which reads the service'],
  files: ['cannot be used with --replay', 'a replay reads the files from start to end'],
};

interface SourceFlags {
  readonly replay: readonly string[];
  readonly via?: TailSource;
}

/** The source that the flags name; a feed that is only polled has no --via. */
function sourceIn({ replay, via = 'poll' }: SourceFlags): TailSource {
  return replay.length > 0 ? 'files' : via;
}

/** Throws for a flag that the source of the run does not accept, before anything is paid. */
export function checkSourceFlags(
  options: Readonly<Record<string, Pick<Flag<unknown>, 'defaultValue' | 'long'>>>,
  flags: SourceFlags,
): void {
  const source = sourceIn(flags);
  const values: Readonly<Record<string, unknown>> = { ...flags };
  for (const [name, accepting] of Object.entries(acceptedBy)) {
    const option = options[name];
    if (!option || accepting.includes(source) || !isGiven(values[name], option)) continue;
    const required = source === 'files' ? undefined : requirements[name];
    if (required) throw usageError(`${option.long} requires ${required[0]}`, required[1]);
    if (name === 'fill' && source !== 'files')
      throw usageError(
        `--fill requires --via store or --via auto, not --via ${source}`,
        'use --via store',
      );
    const [what, hint] = refusals[source];
    throw usageError(`${option.long} ${what}`, hint);
  }
}

function isGiven(value: unknown, { defaultValue }: Pick<Flag<unknown>, 'defaultValue'>): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== false && value !== defaultValue;
}
