import { describe, expect, it } from 'vitest';
import { Bill } from '../../../src/cli/run/bill.ts';
import { RowTally } from '../../../src/cli/run/job.ts';
import type { Client } from '../../../src/contract/ports/client.ts';

function billOf(cu: number, atMost: number, isSandbox = false, units: number | null = null): Bill {
  const bill = new Bill('thesis list', isSandbox);
  const spent = { cu, atMost, inFlight: 0, calls: 1 };
  bill.client = { spent, left: { key: { units, reveals: null } }, ratePerMinute: 60 } as Client;
  return bill;
}

describe('the last line of a run', () => {
  it('is missing without a paid call and a result', () => {
    expect(new Bill('me', false).line(false)).toBeUndefined();
    expect(billOf(0, 0).line(false)).toBeUndefined();
  });

  it('states the cost, and what is left', () => {
    expect(billOf(100, 100).line(false)).toBe('100 CU');
    expect(billOf(100, 300, false, 450_000).line(false)).toBe('100–300 CU, 450,000 CU left');
  });

  it('does not state what is left in the sandbox', () => {
    expect(billOf(100, 100, true, 450_000).line(false)).toBe('100 CU (sandbox)');
  });

  it('states a result that cost nothing', async () => {
    const bill = billOf(0, 0);
    const tally = new RowTally('thesis', 'theses');
    bill.outcome = tally;
    for await (const _ of tally.counting(['a', 'b']));
    expect(bill.line(false)).toBe('2 theses, 0 CU');
    expect(bill.receipt()).toMatchObject({ command: 'thesis list', cu: 0, found: 2 });
  });

  it('says after an interrupt what is cached', () => {
    const bill = billOf(100, 100);
    bill.outcome = { text: '1 of 1 found', total: 1 };
    bill.isCached = true;
    expect(bill.line(true)).toBe('interrupted: 1 of 1 found, 100 CU; 1 answer is cached');
  });

  it('is missing if the command reports its result itself', () => {
    const bill = billOf(100, 100);
    bill.outcome = { text: null, total: 3 };
    expect(bill.line(false)).toBeUndefined();
  });
});

it('a receipt of a run without a client has no cost', () => {
  expect(new Bill('whois', false).receipt()).toMatchObject({ calls: 0, cu: 0, cuAtMost: 0 });
});
