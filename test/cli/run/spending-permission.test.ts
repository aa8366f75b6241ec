import { describe, expect, it } from 'vitest';
import { SpendingPermission } from '../../../src/cli/run/spending-permission.ts';

const CONFIRM_ABOVE = 100_000;

interface Setting {
  readonly maxCu?: number;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
  /** The answers of the person at the terminal; nobody can be asked without them. */
  readonly answers?: readonly boolean[];
}

function permissionOf({ maxCu, yes = false, sandbox = false, answers }: Setting = {}) {
  const asked: string[] = [];
  const left = [...(answers ?? [])];
  const permission = new SpendingPermission({
    terminal: {
      io: { argv: [], env: {}, stderr: { isTTY: answers !== undefined } } as never,
      canAsk: answers !== undefined,
      notice: () => {},
      async confirm(question) {
        asked.push(question);
        return left.shift();
      },
    },
    confirmAbove: CONFIRM_ABOVE,
    maxCu,
    maxReveals: undefined,
    yes,
    sandbox,
    spent: () => 0,
    left: async () => undefined,
  });
  return { permission, asked };
}

const words = { costs: (cost: string) => `This will cost ${cost}`, tellsLimit: true };
const cost = (most: number | null) => ({ least: 0, most, reveals: 0 });

describe('a run of known cost', () => {
  it.each<[string, Setting, number, number | undefined, number | undefined]>([
    ['below the threshold is limited to it', {}, 5, CONFIRM_ABOVE, undefined],
    ['is limited by --max-cu', { maxCu: 7 }, 500_000, 7, undefined],
    ['with --yes agrees to its cost', { yes: true }, 500_000, undefined, 500_000],
    ['in the sandbox has no limit', { sandbox: true }, 500_000, undefined, undefined],
    ['agrees to what was confirmed', { answers: [true] }, 500_000, undefined, 500_000],
  ])('%s', async (_, setting, most, limit, agreed) => {
    const { permission } = permissionOf(setting);
    expect(await permission.start(words, cost(most))).toMatchObject({ most });
    expect([permission.limit, permission.agreed]).toEqual([limit, agreed]);
  });

  it('asks with its sentence, and ends if the person declines or nobody can be asked', async () => {
    const { permission, asked } = permissionOf({ answers: [false] });
    await expect(permission.start(words, cost(500_000))).rejects.toMatchObject({
      code: 'NOT_CONFIRMED',
    });
    expect(asked).toEqual(['This will cost 0–500,000 CU. Continue?']);
    await expect(permissionOf().permission.start(words, cost(500_000))).rejects.toMatchObject({
      code: 'CONFIRMATION_NEEDED',
    });
  });
});

describe('a run of unknown cost', () => {
  it('ends at its limit with the words of its plan', async () => {
    const { permission } = permissionOf();
    await permission.start({
      ...words,
      stopped: (spent) => ({ message: `stopped after ${spent}` }),
    });
    expect(permission.stopped()).toMatchObject({ code: 'CEILING', message: 'stopped after 0 CU' });
  });
});
