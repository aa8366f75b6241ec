import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SavedConfig } from '../../../src/state/config/config.ts';
import { room } from '../room.ts';

const { under } = room();

test.each(['../x', '__proto__'])(
  'the profile name %s is rejected, and nothing is written',
  async (name) => {
    const dir = under('refused');
    const config = new SavedConfig({ config: dir, state: undefined, cache: undefined });
    await expect(config.set(name, 'color', 'auto')).rejects.toMatchObject({ kind: 'usage' });
    await expect(config.login(name, { key: 'trdr_live_planted0secret' })).rejects.toMatchObject({
      kind: 'usage',
    });
    expect(existsSync(dir)).toBe(false);
  },
);
