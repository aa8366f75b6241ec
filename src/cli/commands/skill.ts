import { command } from '../command.ts';

export const skill = command({
  path: 'skill',
  summary: 'Print a skill for agents, as Markdown',
  about: [
    'The skill describes when to use trdr, the most important commands, errors, money and what never to do. Save it in the skills folder of an agent, or add it to the instructions of the agent.',
  ],
  examples: [{ run: 'trdr skill > SKILL.md', does: 'save the skill' }],
  settings: 'none',
  exits: [0, 2],
  async run({ printText }) {
    const [{ allCommands }, { skillText }] = await Promise.all([
      import('../docs/help.ts'),
      import('../docs/skill.ts'),
    ]);
    await printText(skillText(await allCommands()));
    return 0;
  },
});
