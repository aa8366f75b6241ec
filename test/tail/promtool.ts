import { spawnSync } from 'node:child_process';

/** Runs the checker of Prometheus. */
export const promtool = (words: readonly string[], input = '') =>
  spawnSync('promtool', words, { input, encoding: 'utf8' });

export const hasPromtool = (): boolean => promtool(['--version']).status === 0;
