import { spawn } from 'node:child_process';
import { processGuard } from './guard.ts';

/** Starts a process that sleeps, as a test starts a server, and waits to be killed. The first argument is its folder. */
const { pid = 0 } = spawn('sleep', ['600'], { stdio: 'ignore' });
processGuard().add(pid, process.argv[2] ?? '');
process.stdout.write(`${pid}\n`);
setInterval(() => {}, 1_000);
