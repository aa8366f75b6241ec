import { CheckRecord } from '../../contract/records/tool.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { checkView } from '../../output/views/settings.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { probe } from '../doctor/probe.ts';
import type { ExitCode } from '../exit.ts';
import { approve } from '../run/approve.ts';
import { printDryRun } from '../run/dry-run.ts';
import page from './doctor.md';

export const doctor = command({
  path: 'doctor',
  page,
  options: { ws: flag('--ws', 'also try the WebSocket (one minute, 20,000 CU)') },
  common: ['output', 'service', 'money'],
  calls: ['me', 'ws'],
  record: () => CheckRecord,
  settings: 'unread',
  async run(context, { ws }) {
    const calls: Planned[] = [{ id: 'me', ask: {} }];
    if (ws) calls.push({ id: 'ws', ask: {} });
    if (await printDryRun(context, calls, checkView)) return 0;
    const costs = (cost: string) => `Trying the WebSocket will cost ${cost}`;
    await approve({ calls, costs }, context);
    let exit: ExitCode = 0;
    async function* records() {
      for await (const check of probe(context, ws)) {
        // Later failures may be consequences of the first.
        exit ||= check.exit;
        yield check.record;
      }
    }
    await context.out.print(checkView, records());
    return exit;
  },
});
