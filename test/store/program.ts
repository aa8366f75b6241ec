import { spawnSync } from 'node:child_process';

/** The server to test against; STORE_SERVER names another one, such as a newer release or Valkey. */
export const serverProgram = process.env['STORE_SERVER'] ?? 'redis-server';

/** Whether there is a server to test against. */
export const hasServer = (): boolean => spawnSync(serverProgram, ['--version']).status === 0;
