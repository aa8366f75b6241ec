import { describe, expect, test } from 'vitest';
import { cu } from '../../../src/contract/endpoints.ts';
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
  test('adds up pages, and keeps apart what was lost on its way', () => {
    const { meter } = metered();
    expect(meter.spent).toEqual({ least: 0, most: 0 });
    meter.paid(200);
    meter.paid(400);
    meter.lost(200);
    meter.lost(1_000);
    expect(meter.spent).toEqual({ least: 600, most: 1_800 });
    expect(meter.socket).toBe(0);
  });

  test('believes the books of whoever makes the calls', () => {
    const { meter } = metered(() => ({ cu: 600, atMost: 1_800 }));
    meter.paid(200);
    meter.lost(200);
    expect(meter.spent).toEqual({ least: 600, most: 1_800 });
  });

  test('counts the minutes of an open connection, those begun and those gone', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    expect(minutes()).toEqual(sum(0, 1));
    pass(58_999);
    expect(minutes()).toEqual(sum(0, 1));
    // The service's count may be a second ahead of this one, or behind it.
    pass(1);
    expect(minutes()).toEqual(sum(0, 2));
    pass(1_999);
    expect(minutes()).toEqual(sum(0, 2));
    pass(1);
    expect(minutes()).toEqual(sum(1, 2));
    pass(120_000);
    expect(minutes()).toEqual(sum(3, 4));
  });

  test('goes on from what it was when the connection ended', () => {
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

  test('fears that a service which has not heard of the end counts on, until it turns out that it has', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    pass(40_000);
    const heard = meter.closed(60_000);
    expect(minutes()).toEqual(sum(0, 2));
    pass(15_000);
    heard();
    expect(minutes()).toEqual(sum(0, 1));
    // News that comes twice is no news.
    heard();
    expect(minutes()).toEqual(sum(0, 1));
  });

  test('takes back no more than was feared, and no minute that began before the service heard', () => {
    const { meter, pass, minutes } = metered();
    meter.opened();
    pass(40_000);
    const heard = meter.closed(60_000);
    pass(20_000);
    heard();
    expect(minutes()).toEqual(sum(0, 2));
    meter.opened();
    const late = meter.closed(0);
    pass(600_000);
    late();
    expect(minutes()).toEqual(sum(0, 3));
  });

  test('takes back what it feared of a connection that ended long after the start', () => {
    const { meter, pass, minutes } = metered();
    pass(3_600_000);
    meter.opened();
    pass(10_000);
    const heard = meter.closed(60_000);
    expect(minutes()).toEqual(sum(0, 2));
    heard();
    expect(minutes()).toEqual(sum(0, 1));
    meter.opened();
    pass(60_500);
    meter.closed(0);
    // The service may have counted half a second less than the minute.
    expect(minutes().least).toBe(0);
  });

  test('fears a minute for a handshake whose outcome is not known', () => {
    const { meter, minutes } = metered();
    meter.doubted();
    meter.doubted();
    expect(minutes()).toEqual(sum(0, 2));
  });

  test('counts nothing for the end of a connection that never was', () => {
    const { meter, pass, minutes } = metered();
    meter.closed(60_000)();
    meter.opened();
    pass(5_000);
    meter.closed(0);
    meter.closed(60_000)();
    expect(minutes()).toEqual(sum(0, 1));
  });
});
