import { once } from 'node:events';
import { decimal, integer, units } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { oneOf } from '../../base/values.ts';
import { SandboxRecord } from '../../contract/records/tool.ts';
import { parseFaults, planNames, startSandbox } from '../../sandbox/index.ts';
import { excluding, flag, value, valueOr } from '../args/option.ts';
import { file, folder, text } from '../args/values.ts';
import { command } from '../command.ts';
import { speed } from '../tail/flags.ts';
import page from './sandbox.md';

/** The lines to paste into another shell, so that commands in that shell use this service. */
function exportLines(
  platform: NodeJS.Platform,
  { url, key }: { url: string; key: string },
): string {
  const line =
    platform === 'win32'
      ? (name: string, value: string) => `$env:${name} = "${value}"`
      : (name: string, value: string) => `export ${name}=${value}`;
  return `\nPaste this into another shell:\n\n${line('TRDR_BASE_URL', url)}\n${line('TRDR_API_KEY', key)}\n\nPress Ctrl-C to stop.\n`;
}

export const sandbox = command({
  path: 'sandbox',
  page,
  options: {
    port: valueOr(
      '--port',
      'port to listen on (0 for any free port)',
      integer({ min: 0, max: 65_535 }),
      0,
    ),
    seed: valueOr('--seed', 'seed of the generated data', integer({ min: 0 }), 1),
    plan: valueOr('--plan', 'plan of the key', oneOf(...planNames), 'growth'),
    units: value('--units', 'units that the plan grants per month', units),
    reveals: value('--reveals', 'wallet reveals of the plan per month', integer({ min: 0 })),
    topUps: value('--top-ups', 'units that were bought in addition', units),
    unmetered: excluding(
      flag('--unmetered', 'a key that is counted but never refused'),
      '--units',
      '--reveals',
      '--top-ups',
    ),
    rate: valueOr('--rate', 'live posts per minute', decimal({ min: 0 }), 12),
    envelope: valueOr(
      '--envelope',
      'whether responses are bare or wrapped in data and meta',
      oneOf('bare', 'wrapped'),
      'bare',
    ),
    faults: value('--faults', 'faults to inject, and how often', text('spec')),
    replay: excluding(
      value('--replay', 'replay a feed recorded by thesis tail (NDJSON)', file),
      '--data',
    ),
    speed: value('--speed', 'speed of the replay', speed, '1x'),
    data: value('--data', 'serve the NDJSON files in this folder', folder),
  },
  record: () => SandboxRecord,
  exits: [9, 129, 130, 143],
  parse(_, flags) {
    if (flags.faults !== undefined) parseFaults(flags.faults);
    if (flags.speed !== undefined && flags.replay === undefined) {
      throw usageError('--speed requires --replay', 'add a recording with --replay FILE');
    }
    return flags;
  },
  async run({ settings, terminal, out }, { replay, speed: factor = 1, ...options }) {
    const service = await startSandbox({
      ...options,
      monthlyUnits: options.units,
      revealsPerMonth: options.reveals,
      additionalUnits: options.topUps,
      ...(replay !== undefined && { replay: { file: replay, speed: factor } }),
    });
    const { url, key, port } = service;
    try {
      const sink = await out.open();
      await sink.write(`${JSON.stringify({ url, key, port })}\n`);
      await sink.flush();
      if (terminal.io.stderr.isTTY && !settings.flags.quiet)
        terminal.io.stderr.write(exportLines(terminal.io.platform, { url, key }));
      if (!terminal.signal.aborted) await once(terminal.signal, 'abort');
    } finally {
      await service.close();
    }
    terminal.signal.throwIfAborted();
  },
});
