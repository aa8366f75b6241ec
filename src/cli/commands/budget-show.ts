import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { command } from '../command.ts';

export const budgetShow = command({
  path: 'budget show',
  summary: 'Show the budgets and what is left of them',
  about: [
    'Shows what was spent in the current UTC day and month. Also shows what is reserved for calls in flight, and what calls with lost answers may have cost. With a budget, also shows what is left and when the budget renews.',
    'With a shared store, shows the budgets of the store, then the budgets of the profile on this machine, if there are any. If the store has a budget, the amount spent is what the service has counted for the key, unless the store has recorded more.',
  ],
  args: [],
  options: {},
  common: ['output'],
  examples: [
    { run: 'trdr budget show', does: 'show what is left' },
    {
      run: "trdr budget show -o json | jq '.[] | {name, left}'",
      does: 'print the remaining amounts for a script',
    },
  ],
  calls: [],
  record: () => StoreItem,
  exits: [0, 2, 4, 9],
  parse: (_, given) => given,
  async run(context) {
    const { localBudgets } = await import('../spend/budgets.ts');
    const own = await localBudgets(context);
    const store = await context.store();
    if (store === undefined) {
      await context.print(storeView, own);
      return 0;
    }
    // Raise the spending that the store has recorded to the usage that the service counts, unless this was
    // done recently.
    await (await context.ledger()).budgets?.();
    const { readStatus } = await import('../../store/status.ts');
    const items = await store.link.use((connection) => readStatus(connection, store.keys));
    const { profile } = context.settings;
    await context.print(storeView, [
      ...items.filter(({ item }) => item === 'budget'),
      ...own
        .filter(({ limit }) => limit !== null)
        .map((line) => ({ ...line, name: `${line.name} of profile ${profile}` })),
    ]);
    return 0;
  },
});
