import { usageError } from '../../base/failure.ts';
import { createSink } from '../../output/sink.ts';
import { didYouMean } from '../../output/suggest.ts';
import { wantsColor } from '../../output/terminal/style.ts';
import type { AnyCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { colorMode } from '../report-failure.ts';
import { groups, tree } from '../tree.ts';
import { layoutPage } from './layout.ts';
import { groupPage, overviewPage } from './overview.ts';
import { commandPage, type DocPage } from './page.ts';
import { topics } from './topics.ts';

export const allCommands = (): Promise<AnyCommand[]> =>
  Promise.all(Object.values(tree).map((load) => load()));

async function findPage(words: readonly string[]): Promise<DocPage> {
  const name = words.join(' ');
  const load = tree[name];
  if (load) return commandPage(await load());
  if (name === '') return overviewPage(await allCommands());
  if (groups().includes(name)) return groupPage(name, await allCommands());
  const topic = topics.find((each) => each.name === words.join('-'));
  if (topic) return topic;
  const known = [...Object.keys(tree), ...groups(), ...topics.map((each) => each.name)];
  throw usageError(
    `unknown command or topic "${name}"`,
    didYouMean(name, known, (each) => `"trdr help ${each}"`) ||
      'run "trdr help" to list the commands and topics',
  );
}

export async function showPage(io: Io, words: readonly string[]): Promise<void> {
  const isTerminal = io.stdout.isTTY === true;
  const columns = (isTerminal && io.stdout.columns) || 80;
  const bold = wantsColor(colorMode(io.argv), io.env, isTerminal);
  const text = layoutPage(await findPage(words), { columns, bold });
  const sink = createSink(io.stdout, { name: 'stdout' });
  await sink.write(text);
  await sink.finish('complete');
}

/** All pages: the overview, groups, commands and topics. A group replaces the topic of the same name. */
export async function allPages(): Promise<DocPage[]> {
  const commands = await allCommands();
  const named = groups();
  return [
    overviewPage(commands),
    ...named.map((group) => groupPage(group, commands)),
    ...commands.map(commandPage),
    ...topics.filter(({ name }) => !named.includes(name)),
  ];
}
