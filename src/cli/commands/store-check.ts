import { Failure } from '../../base/failure.ts';
import { CheckRecord } from '../../contract/records/tool.ts';
import { checkView } from '../../output/views/checks.ts';
import { hintForCheck } from '../../store/away-failure.ts';
import { command } from '../command.ts';
import { exitOf } from '../exit.ts';

export const storeCheck = command({
  path: 'store check',
  summary: 'Check the shared store and show how to fix each problem',
  about: [
    'Checks whether the store is reachable. Then checks its version, the permissions of the user that trdr logs in as, the data that trdr has saved there, eviction policy, persistence, memory, clock and round-trip time. Writes a few temporary entries and removes them.',
    'Exits 9 if a check failed, and 0 otherwise; warnings do not count.',
  ],
  args: [],
  options: {},
  common: ['output'],
  examples: [{ run: 'trdr store check', does: 'check whether the store is ready for a team' }],
  calls: [],
  record: () => CheckRecord,
  exits: [0, 2, 4, 9],
  parse: (_, given) => given,
  async run(context) {
    const { needStore } = await import('../store/need-store.ts');
    const { examine } = await import('../../store/check.ts');
    const { keys, link, address } = await needStore(context);
    const { now, mono } = context.io.clock;
    const user = address.username ?? 'default';
    let failed = false;
    await context.emit(checkView, false, async (out) => {
      try {
        await link.use(async (store) => {
          await out.write({ check: 'reach', verdict: 'ok', detail: address.shown });
          for await (const found of examine(store, { keys, user, db: address.db, now, mono })) {
            failed ||= found.verdict === 'fail';
            await out.write({ ...found });
          }
        });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failed = true;
        const next = hintForCheck(error.hint);
        await out.write({ check: 'reach', verdict: 'fail', detail: error.message, ...(next && { next }) });
      }
    });
    return failed ? exitOf.network : 0;
  },
});
