import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { createFaults } from '../../src/sandbox/faults/engine.ts';
import { parseFaults } from '../../src/sandbox/faults/grammar.ts';
import { faultKinds } from '../../src/sandbox/faults/kinds.ts';

const rule = (text: string) => parseFaults(text)[0];

describe('the fault syntax', () => {
  it('parses chances as fractions and percentages', () => {
    expect(rule('drop=0.01')?.chance).toBe(0.01);
    expect(rule('429=5%')?.chance).toBe(0.05);
    expect(rule('500=100%')?.chance).toBe(1);
    expect(rule('500')?.chance).toBe(1);
  });

  it('parses times and ranges of times', () => {
    expect(rule('delay=200ms')?.time).toEqual({ min: 200, max: 200 });
    expect(rule('delay=200ms..2s')?.time).toEqual({ min: 200, max: 2_000 });
    expect(rule('late=2%:1m')).toMatchObject({ chance: 0.02, time: { min: 60_000, max: 60_000 } });
    expect(rule('drop=1.5m')).toMatchObject({ chance: null, time: { min: 90_000, max: 90_000 } });
  });

  it('parses counts, skips and places', () => {
    expect(rule('500@user.wallet+3*2')).toMatchObject({ count: 2, skip: 3, chance: 1 });
    expect(rule('500@user.wallet')?.at('user.wallet')).toBe(true);
    expect(rule('500@user.wallet')?.at('user.handle')).toBe(false);
    expect(rule('500@theses')?.at('thesis.token')).toBe(true);
    expect(rule('500@thesis.*')?.at('launchpad.callouts')).toBe(false);
    expect(rule('503@ws')?.at('ws')).toBe(true);
    expect(rule('503')?.at('ws')).toBe(false);
    expect(rule('delay@ws=1s')?.place).toBe('frame');
  });

  it('parses statuses and error codes', () => {
    expect(rule('503')?.fault).toEqual({ kind: 'code', code: 'OVERLOADED' });
    expect(rule('b2b_disabled')?.fault).toEqual({ kind: 'code', code: 'B2B_DISABLED' });
    expect(rule('502')?.fault).toEqual({ kind: 'gateway', status: 502 });
  });

  it('parses a list, including an empty one', () => {
    expect(parseFaults('drop=0.01, delay=200ms,429=5%,,dup=1%').map(({ text }) => text)).toEqual([
      'drop=0.01',
      'delay=200ms',
      '429=5%',
      'dup=1%',
    ]);
    expect(parseFaults('')).toEqual([]);
  });

  it.each([
    'nonsense',
    '200',
    '700',
    'delay',
    'delay=5%',
    'drop=2',
    'drop=-1',
    '500@nowhere',
    'dup@user.wallet',
    'late@ws=1s',
    'cut@ws',
    'reset@ws',
    'cut=1s',
    '500=5%:1s:2s',
    '500=abc',
    '500**2',
    'delay=1s..x',
  ])('rejects %s with an explanation', (text) => {
    expect(() => parseFaults(text)).toThrow(Failure);
    expect(() => parseFaults(text)).toThrow(new RegExp(text.split(/[@=*]/)[0] ?? ''));
  });

  it.each(['500=5%:1s:2s', '500=1s:5%', '500=5%:6%'])(
    'rejects the order or number of values in %s',
    (text) => {
      expect(() => parseFaults(text)).toThrow('one probability and one time, in this order');
    },
  );

  const hintFor = (text: string) => {
    try {
      parseFaults(text);
    } catch (error) {
      return error instanceof Failure ? error.hint : undefined;
    }
    return undefined;
  };

  it('suggests every fault for an unknown name', () => {
    for (const name of Object.keys(faultKinds)) expect(hintFor('bogus')).toContain(name);
  });

  it.each([
    ['=5%', 'write name[@where]'],
    ['late@user=1s', 'remove @user'],
    ['dup@user.wallet', 'remove @user.wallet'],
    ['cut@ws', 'remove @ws'],
    ['delay=5%', 'delay=5%:200ms'],
    ['cut=1s', 'remove the time'],
    ['500=abc', '429=5%:3s'],
    ['500=1s:5%', '429=5%:3s'],
  ])('suggests how to correct %s', (text, hint) => {
    expect(hintFor(text)).toContain(hint);
  });
});

describe('active faults', () => {
  const strikes = (text: string, seed: number, events: number) => {
    const faults = createFaults(text, seed);
    return Array.from({ length: events }, () => faults.trigger('call', 'thesis.all').length);
  };

  it('are triggered by their chance, identically for the same seed', () => {
    const one = strikes('500=10%', 7, 2_000);
    expect(strikes('500=10%', 7, 2_000)).toEqual(one);
    expect(strikes('500=10%', 8, 2_000)).not.toEqual(one);
    const share = one.reduce((sum, each) => sum + each, 0) / 2_000;
    expect(share).toBeGreaterThan(0.07);
    expect(share).toBeLessThan(0.13);
  });

  it('skip events first, then are triggered up to their count', () => {
    expect(strikes('500+2*3', 1, 8)).toEqual([0, 0, 1, 1, 1, 0, 0, 0]);
  });

  it('are counted, replaced and removed', () => {
    const faults = createFaults('500*1', 1);
    faults.trigger('call', 'me');
    faults.trigger('call', 'me');
    expect(faults.triggered).toEqual({ '500*1': 1 });
    expect(() => faults.set('nonsense')).toThrow(Failure);
    expect(faults.triggered).toEqual({ '500*1': 1 });
    faults.set('');
    expect(faults.trigger('call', 'me')).toEqual([]);
  });
});
