import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
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

  it('parses a list, including an empty one', () => {
    expect(parseFaults('drop=0.01, delay=200ms,429=5%,,dup=1%').map(({ text }) => text)).toEqual([
      'drop=0.01',
      'delay=200ms',
      '429=5%',
      'dup=1%',
    ]);
    expect(parseFaults('')).toEqual([]);
  });

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
