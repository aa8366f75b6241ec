import { hasServer, serverProgram } from './store/program.ts';
import { hasPromtool } from './tail/promtool.ts';

/** The tools that tests need, with the Debian package of each. */
const tools = [
  { name: serverProgram, has: hasServer, tests: 'the store', apt: 'redis-server' },
  { name: 'promtool', has: hasPromtool, tests: 'the metrics and the alerts', apt: 'prometheus' },
];

/** Reports once which tools are missing and what is skipped without them; CI must not pass without them. */
export default function setup(): void {
  const missing = tools.filter(({ has }) => !has());
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(' and ');
  const how = `install ${names} with: apt-get install --no-install-recommends ${missing.map(({ apt }) => apt).join(' ')}`;
  const tests = missing.map((tool) => tool.tests).join(' and ');
  if (process.env['CI'] === 'true') throw new Error(`the tests of ${tests} cannot run; ${how}`);
  process.stderr.write(`\nskipping the tests of ${tests}: ${how}\n\n`);
}
