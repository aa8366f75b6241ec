import { CheckRecord } from '../../contract/records/tool.ts';
import { checkView } from '../../output/views/settings.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { probe } from '../doctor/probe.ts';
import type { ExitCode } from '../exit.ts';
import { approve, isDryRun } from '../run/approve.ts';
import type { Planned } from '../run/plan.ts';

export const doctor = command({
  path: 'doctor',
  summary: 'Check settings, key, connection, limits and API changes',
  about: [
    'Prints one record per check, with its status (ok, warn, fail, skip) and how to fix a problem. Free of charge, unless --ws is given.',
    "Compares the service's OpenAPI description with the one that this version of trdr was built for. Reports each endpoint, parameter and field that was added, removed or changed. A check fails if the change breaks a call; additions are ok.",
    'Exits 0 if no check failed; warnings do not count. Otherwise, the first failed check decides the exit code: 2 for an invalid setting, 4 for the key, 5 for scope or plan, 6 for a used-up allowance, 7 for the rate limit, 9 for an unreadable config file, the connection or API changes.',
  ],
  options: { ws: flag('--ws', 'also try the WebSocket (one minute, 20,000 CU)') },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr doctor': 'check everything',
    'trdr doctor -o json | jq -r \'.[] | select(.check == "drift").detail\'':
      'list the API changes',
  },
  calls: ['me', 'ws'],
  record: () => CheckRecord,
  settings: 'unread',
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  async run(context, { ws }) {
    const calls: Planned[] = [{ id: 'me', ask: {} }];
    if (ws) calls.push({ id: 'ws', ask: {} });
    if (await isDryRun(context, calls, checkView)) return 0;
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
