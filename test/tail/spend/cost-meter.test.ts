import { describe, expect, test } from 'vitest';
import { cu } from '../../../src/contract/prices.ts';
import { createCostMeter } from '../../../src/tail/spend/cost-meter.ts';

function metered(pages?: () => { cu: number; atMost: number }) {
  let now = 5_000;
  const meter = createCostMeter(() => now, pages);
  const pass = (ms: number) => {
    now += ms;
  };
  const minutes = () => ({
    least: meter.spent.least / cu.socketMinute,
    most: meter.spent.most / cu.socketMinute,
    socket: meter.socket / cu.socketMinute,
  });
  return { meter, pass, minutes };
}
const sum = (least: number, most: number) => ({ least, most, socket: most });

describe('the meter', () => {
  test('adds up pages, and counts lost ones separately', () => {
    const { meter } = metered();
    expect(meter.spent).toEqual({ least: 0, most: 0 });
    meter.paid(200);
    meter.paid(400);
    meter.lost(200);
    meter.lost(1_000);
    expect(meter.spent).toEqual({ least: 600, most: 1_800 });
    expect(meter.socket).toBe(0);
  });

  test('uses the totals of the client if it is given them', () => {
    const { meter } = metered(() => ({ cu: 600, atMost: 1_800 }));
    meter.paid(200);
    meter.lost(200);
    expect(meter.spent).toEqual({ least: 600, most: 1_800 });
  });

  test('counts the started and the elapsed minutes of an open connection', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    expect(minutes()).toEqual(sum(0, 1));
    pass(58_999);
    expect(minutes()).toEqual(sum(0, 1));
    // The clock of the service may be a second ahead or behind.
    pass(1);
    expect(minutes()).toEqual(sum(0, 2));
    pass(1_999);
    expect(minutes()).toEqual(sum(0, 2));
    pass(1);
    expect(minutes()).toEqual(sum(1, 2));
    pass(120_000);
    expect(minutes()).toEqual(sum(3, 4));
  });

  test('stops counting when the connection ends', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    pass(61_000);
    meter.closed(0);
    expect(minutes()).toEqual(sum(1, 2));
    pass(600_000);
    expect(minutes()).toEqual(sum(1, 2));
    meter.opened();
    pass(30_000);
    expect(minutes()).toEqual(sum(1, 3));
    meter.closed(0);
    expect(minutes()).toEqual(sum(1, 3));
    meter.opened();
    pass(60_999);
    meter.closed(0);
    expect(minutes()).toEqual(sum(1, 5));
    meter.paid(200);
    expect(meter.spent).toEqual({ least: cu.socketMinute + 200, most: 5 * cu.socketMinute + 200 });
  });

  test('includes the time until the service notices the end, until that end is confirmed', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    pass(40_000);
    const confirm = meter.closed(60_000);
    expect(minutes()).toEqual(sum(0, 2));
    pass(15_000);
    confirm();
    expect(minutes()).toEqual(sum(0, 1));
    // A second confirmation has no effect.
    confirm();
    expect(minutes()).toEqual(sum(0, 1));
  });

  test('subtracts at most what it added, and keeps minutes that started before the confirmation', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    pass(40_000);
    const confirm = meter.closed(60_000);
    pass(20_000);
    confirm();
    expect(minutes()).toEqual(sum(0, 2));
    meter.opened();
    const late = meter.closed(0);
    pass(600_000);
    late();
    expect(minutes()).toEqual(sum(0, 3));
  });

  test('subtracts after a connection that ended long after the start', () => {
    const { meter, pass, minutes } = metered();
    pass(3_600_000);
    meter.opened();
    pass(10_000);
    const confirm = meter.closed(60_000);
    expect(minutes()).toEqual(sum(0, 2));
    confirm();
    expect(minutes()).toEqual(sum(0, 1));
    meter.opened();
    pass(60_500);
    meter.closed(0);
    // The service may have measured less than a minute.
    expect(minutes().least).toBe(0);
  });

  test('includes the minutes until the service notices that a handshake with an unknown outcome failed', () => {
    const { meter, minutes } = metered();
    meter.uncertain(60_000);
    expect(minutes()).toEqual(sum(0, 2));
    meter.uncertain(30_000);
    expect(minutes()).toEqual(sum(0, 3));
  });

  test('counts nothing for the end of a connection that was never opened', () => {
    const { meter, pass, minutes } = metered();
    meter.closed(60_000)();
    meter.opened();
    pass(5_000);
    meter.closed(0);
    meter.closed(60_000)();
    expect(minutes()).toEqual(sum(0, 1));
  });
});
