import { hasServer, serverProgram } from './program.ts';

/** Says once what the tests of the store need, where it is missing; a CI run must not pass without them. */
export default function setup(): void {
  if (hasServer()) return;
  const how = `${serverProgram} is not installed: apt-get install redis-server`;
  if (process.env['CI'] === 'true') throw new Error(`the tests of the store cannot run: ${how}`);
  process.stderr.write(`\nskipping test/store: ${how}\n\n`);
}
