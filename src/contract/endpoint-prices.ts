import { THESIS_BLOCK, THESIS_LIMIT_DEFAULT } from './limits.ts';
import { cu } from './prices.ts';
import type { Known } from './read-record.ts';
import type { Pnl } from './records/pnl.ts';
import { holdsWallet, type User } from './records/user.ts';

export const provesWallet = ({ wallet, evmWallet }: Known<Pnl>) => isText(wallet) || isText(evmWallet);

const isText = (value: unknown) => typeof value === 'string';

export const walletOnce = (holds: boolean) => (holds ? 1 : 0);

export const lookupPrice = {
  text: '100 CU, 200 CU on 404',
  before: () => ({ least: cu.lookup, most: cu.miss, reveals: 1 }),
  after: (_: unknown, answer: { known: Known<User> }) => ({
    cu: cu.lookup,
    reveals: walletOnce(holdsWallet(answer.known)),
  }),
  miss: cu.miss,
};

export const revealPrice = {
  text: '30,000 CU, 200 CU on 404',
  before: () => ({ least: cu.miss, most: cu.reveal, reveals: 1 }),
  miss: cu.miss,
};

export const thesisBlocks = (rows: number = THESIS_LIMIT_DEFAULT) => Math.ceil(rows / THESIS_BLOCK);

const thesisCost = (query: { limit?: number | undefined }) => cu.thesisBlock * thesisBlocks(query.limit);

export const thesisPrice = {
  text: '200 CU per 20 rows of the requested limit, rounded up',
  before: ({ query }: { query: { limit?: number | undefined } }) => {
    const cost = thesisCost(query);
    return { least: cost, most: cost, reveals: 0 };
  },
  after: ({ query }: { query: { limit?: number | undefined } }) => ({ cu: thesisCost(query), reveals: 0 }),
  miss: cu.miss,
};

// A call that is answered with 404 costs the same.
export const launchpadPrice = {
  text: '10 CU per call',
  before: () => ({ least: cu.launchpad, most: cu.launchpad, reveals: 0 }),
  after: () => ({ cu: cu.launchpad, reveals: 0 }),
  miss: cu.launchpad,
};
