import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { command } from '../command.ts';

export const budgetShow = command({
  path: 'budget show',
  summary: 'Show the shared budgets and what is spent of them',
  about: [
    'One line per budget, with what is spent, lost and reserved for calls in flight in the current UTC period.',
  ],
  args: [],
  options: {},
  common: ['output'],
  examples: [{ run: 'trdr budget show', does: 'what is left?' }],
  calls: [],
  record: () => StoreItem,
  exits: [0, 2, 4, 9],
  parse: (_, given) => given,
  async run(context) {
    const { needStore } = await import('../store/need-store.ts');
    const { readStatus } = await import('../../store/status.ts');
    const { keys, link } = await needStore(context);
    const items = await link.use((store) => readStatus(store, keys));
    await context.print(
      storeView,
      items.filter(({ item }) => item === 'budget'),
    );
    return 0;
  },
});
