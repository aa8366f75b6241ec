import { cu } from '../../contract/endpoints.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import { checkView } from '../../output/views/checks.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import type { Planned } from '../context.ts';
import { type Check, exitOfAll } from '../doctor/check.ts';
import { probe } from '../doctor/probe.ts';

export const doctor = command({
  path: 'doctor',
  summary: 'Check settings, key, reach, clock and limits, and how the service has changed',
  about: [
    'One record a check, with its verdict (ok, warn, fail, skip) and what to do about it. Nothing is charged without --ws.',
    "Drift is how the service's own description differs from what this trdr was built for: endpoints, parameters and fields that came, went or changed type, a record each. What came is ok; what breaks a call is a fail.",
    'Warnings end in 0. Where checks fail, the first of them decides: 4 for the key, 5 for scope and plan, 6 for an empty meter, 9 for settings that can not be read, for reach and for drift.',
  ],
  args: [],
  options: { ws: flag('--ws', 'also open the socket: a minute of it, 20,000 CU') },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr doctor', does: 'what is wrong?' },
    {
      run: 'trdr doctor -o json | jq -r \'.[] | select(.check == "drift").detail\'',
      does: 'what has changed',
    },
  ],
  calls: ['me', 'ws'],
  record: () => CheckRecord,
  settings: 'unread',
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse: (_, given) => given,
  async run(context, { ws }) {
    const planned: Planned[] = [{ id: 'me', ask: {} }, ...(ws ? [{ id: 'ws', ask: {} } as const] : [])];
    if (await context.dryRun(planned)) return 0;
    if (ws) await context.approve({ least: cu.socketMinute, most: cu.socketMinute }, 'trying the socket');
    const checks: Check[] = [];
    await context.emit(checkView, false, async (out) => {
      for await (const check of probe(context, { ws })) {
        checks.push(check);
        await out.write(check.record);
      }
    });
    return exitOfAll(checks);
  },
});
