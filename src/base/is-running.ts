import { errno } from './files.ts';

/** Whether there is a process with this pid. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other error means that the process exists; it may belong to another user.
    return errno(error) !== 'ESRCH';
  }
}
