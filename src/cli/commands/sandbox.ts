import { usageError } from '../../base/failure.ts';
import { SandboxRecord } from '../../contract/records/tool.ts';
import { parseFaults, planNames, startSandbox } from '../../sandbox/index.ts';
import { flag, value, valueOr } from '../args/option.ts';
import { decimal, file, integer, oneOf, text } from '../args/values.ts';
import { command } from '../command.ts';

/** The embedded service for one command: a stream gets a feed that moves while it is watched. */
export async function startEmbedded(live: boolean) {
  const sandbox = await startSandbox({ seed: 1, plan: 'scale', rate: live ? 40 : 0 });
  return { url: sandbox.url, key: sandbox.key, close: () => sandbox.close() };
}

const speed = {
  name: 'factor',
  noun: 'speed',
  hint: 'write it as 10x',
  read(given: string) {
    const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(given)?.[1]);
    return factor > 0 ? factor : undefined;
  },
};

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

export const sandbox = command({
  path: 'sandbox',
  summary: 'The embedded service, standing on loopback until it is stopped',
  about: [
    'Serves the whole API on 127.0.0.1, with a made world of traders, theses and launchpad accounts: same seed, same world. When it is ready it prints one line of JSON with its url and a key that works.',
    'Faults are given as a list, for example "500=2%,delay=200ms,drop=1%": what can be named is in docs/sandbox.md.',
  ],
  args: [],
  options: {
    port: valueOr('--port', 'port to listen on; 0 takes a free one', integer({ min: 0, max: 65_535 }), 0),
    seed: valueOr('--seed', 'seed of the world', integer({ min: 0 }), 1),
    plan: valueOr('--plan', 'plan of the key', oneOf(...planNames), 'growth'),
    rate: valueOr('--rate', 'live posts a minute', decimal({ min: 0 }), 12),
    envelope: valueOr('--envelope', 'how answers stand', oneOf('bare', 'wrapped'), 'bare'),
    page: valueOr('--page', 'whether limits above 20 are honoured', oneOf('full', 'capped'), 'full'),
    faults: value('--faults', 'what goes wrong, and how often', text('spec')),
    replay: value('--replay', 'play a recorded feed: NDJSON as thesis tail prints it', file),
    speed: value('--speed', 'how fast the recording plays', speed, '1x'),
    data: value('--data', 'serve the NDJSON files of this folder', file),
    theses: value('--theses', 'theses in the made world', integer({ min: 0, max: 5_000_000 })),
    traders: value('--traders', 'traders in the made world', integer({ min: 10, max: 100_000 })),
    socials: flag('--socials', 'user records carry social links'),
    unitsUsed: value('--units-used', 'units the key has used already', integer({ min: 0 })),
    unmetered: flag('--unmetered', 'the key is never refused for quota'),
  },
  common: [],
  examples: [
    { run: 'trdr sandbox --port 8787', does: 'a service to point scripts at' },
    { run: 'trdr sandbox --faults "500=2%,drop=1%" --rate 600', does: 'a busy feed on a bad day' },
    { run: 'trdr sandbox --replay monday.ndjson --speed 10x', does: 'a recorded feed, ten times as fast' },
  ],
  calls: [],
  record: () => SandboxRecord,
  exits: [0, 2, 9, 130, 143],
  parse(_, given) {
    if (given.faults !== undefined) parseFaults(given.faults);
    if (given.replay !== undefined && given.data !== undefined) {
      throw usageError('--replay and --data both say what is served', 'give one of them');
    }
    if (given.speed !== undefined && given.replay === undefined) {
      throw usageError('--speed is that of a recording', 'name one with --replay FILE');
    }
    return given;
  },
  async run({ output, signal }, { replay, speed: factor = 1, ...options }) {
    const service = await startSandbox({
      ...options,
      ...(replay !== undefined && { replay: { file: replay, speed: factor } }),
    });
    const { url, key, port } = service;
    try {
      const sink = await output();
      await sink.write(`${JSON.stringify({ url, key, port })}\n`);
      await sink.flush();
      await aborted(signal);
    } finally {
      await service.close();
    }
    signal.throwIfAborted();
    return 0;
  },
});
