import { spawn } from 'node:child_process';

/** Kills the child processes of this process when it dies, even by SIGKILL, and removes their folders. */
export interface ProcessGuard {
  add(pid: number, folder: string): void;
  remove(pid: number): void;
}

// Reads lines until its stdin closes, which happens when the process at the other end has died.
const SCRIPT = `
held=
while read -r what pid folder; do
  if [ "$what" = + ]; then held="$held
$pid $folder"
  else held=$(printf '%s\\n' "$held" | grep -v "^$pid " || true)
  fi
done
printf '%s\\n' "$held" | while read -r pid folder; do
  [ -n "$pid" ] || continue
  kill -CONT "$pid" 2>/dev/null
  kill -KILL "$pid" 2>/dev/null
  rm -rf "$folder"
done
`;

let running: ProcessGuard | undefined;

/**
 * The guard of this process, started on first use. The guard has its own session, so that Ctrl-C does not end
 * it first.
 */
export function processGuard(): ProcessGuard {
  if (running) return running;
  const child = spawn('sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.unref();
  const { stdin } = child;
  // The pipe to the guard must not keep this process alive.
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  stdin.on('error', () => {});
  running = {
    add: (pid, folder) => void stdin.write(`+ ${pid} ${folder}\n`),
    remove: (pid) => void stdin.write(`- ${pid}\n`),
  };
  return running;
}
