import { hasServer, serverProgram } from './program.ts';

/** Reports once which server the tests of the store need if it is missing; CI must not pass without it. */
export default function setup(): void {
  if (hasServer()) return;
  const how = `${serverProgram} is not installed: apt-get install redis-server`;
  if (process.env['CI'] === 'true') throw new Error(`the tests of the store cannot run: ${how}`);
  process.stderr.write(`\nskipping test/store: ${how}\n\n`);
}
