import { expect, test } from 'vitest';
import { foldersOf, homeOf } from '../../src/state/paths.ts';

const linux = { platform: 'linux', home: '/home/ann', cwd: '/desk' };

test('the default folders follow the platform', () => {
  expect(foldersOf({ ...linux, env: {} })).toEqual({
    config: '/home/ann/.config/trdr',
    state: '/home/ann/.local/state/trdr',
    cache: '/home/ann/.cache/trdr',
  });
  expect(foldersOf({ ...linux, platform: 'darwin', home: '/Users/ann', env: {} })).toEqual({
    config: '/Users/ann/.config/trdr',
    state: '/Users/ann/.local/state/trdr',
    cache: '/Users/ann/Library/Caches/trdr',
  });
  const windows = { platform: 'win32', home: 'C:\\Users\\ann', cwd: 'C:\\' };
  expect(foldersOf({ ...windows, env: { APPDATA: 'D:\\Roaming' } })).toEqual({
    config: 'D:\\Roaming\\trdr',
    state: 'C:\\Users\\ann\\AppData\\Local\\trdr\\state',
    cache: 'C:\\Users\\ann\\AppData\\Local\\trdr\\cache',
  });
});

test('trdr variables override XDG variables, which override the defaults', () => {
  const env = { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s', XDG_CACHE_HOME: '/x/k' };
  expect(foldersOf({ ...linux, env })).toEqual({
    config: '/x/c/trdr',
    state: '/x/s/trdr',
    cache: '/x/k/trdr',
  });
  const own = { ...env, TRDR_CONFIG_DIR: '/t/c', TRDR_STATE_DIR: 'rel/s', TRDR_CACHE_DIR: '' };
  expect(foldersOf({ ...linux, env: own })).toEqual({
    config: '/t/c',
    state: '/desk/rel/s',
    cache: '/x/k/trdr',
  });
});

test('a relative XDG path is ignored', () => {
  expect(foldersOf({ ...linux, env: { XDG_CONFIG_HOME: 'rel' } }).config).toBe(
    '/home/ann/.config/trdr',
  );
});

test('the home directory comes from the environment, else from the system', () => {
  const system = () => '/from/passwd';
  const fails = () => {
    throw new Error('no entry');
  };
  expect(homeOf({ HOME: '/h' }, 'linux', fails)).toBe('/h');
  expect(homeOf({ HOME: '' }, 'linux', system)).toBe('/from/passwd');
  expect(homeOf({}, 'linux', fails)).toBeUndefined();
  expect(homeOf({ USERPROFILE: 'C:\\u', HOME: '/h' }, 'win32', fails)).toBe('C:\\u');
});
