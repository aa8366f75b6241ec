import { describe, expect, it, test } from 'vitest';
import { commandProse } from '../../../src/cli/docs/command-prose.ts';
import { allCommands } from '../../../src/cli/docs/help.ts';
import { readProse } from '../../../src/cli/docs/prose.ts';
import { topics } from '../../../src/cli/docs/topics.ts';
import { outputFormats } from '../../../src/state/config/settings-table.ts';

const page = `# Show things

The first paragraph,
on two lines, with {{words}}.

--flag begins the second one.

## Terms

- \`one\`: its meaning,
  continued
- \`two, three\`: another: meaning

{{more}}

## Examples

\`\`\`sh
# show one
trdr show one | jq '#'

trdr show

# show two
trdr show two
\`\`\`
`;

test('a text has a title, paragraphs, terms and examples', () => {
  expect(readProse(page, { words: 'words', more: [['four', 'inserted']] })).toEqual({
    title: 'Show things',
    text: ['The first paragraph, on two lines, with words.', '--flag begins the second one.'],
    sections: [
      {
        title: 'Terms',
        text: [],
        terms: [
          ['one', 'its meaning, continued'],
          ['two, three', 'another: meaning'],
          ['four', 'inserted'],
        ],
        code: {},
      },
      {
        title: 'Examples',
        text: [],
        terms: [],
        code: {
          "trdr show one | jq '#'": 'show one',
          'trdr show': '',
          'trdr show two': 'show two',
        },
      },
    ],
  });
});

describe('what would be lost on the way to a page is an error', () => {
  it.each([
    ['a text without a title', 'Only text.\n'],
    ['a second title', '# One\n\n# Two\n'],
    ['a section without a title', '## One\n'],
    ['a list without terms', '# One\n\n- word\n'],
    ['an example without a command line', '# One\n\n```sh\n# does\n```\n'],
    ['a code block of another language', '# One\n\n```json\n{}\n```\n'],
    ['a word that nothing is inserted for', '# One\n\nSome {{thing}}.\n'],
    ['definitions that nothing is inserted for', '# One\n\n{{things}}\n'],
  ])('%s', (_, text) => expect(() => readProse(text)).toThrow());
});

it('every command has a summary without a full stop, and an example of itself', async () => {
  for (const command of await allCommands()) {
    const { summary, examples } = commandProse(command);
    expect(summary, command.path).toMatch(/^[A-Z].*[^.]$/);
    const lines = Object.keys(examples).filter((line) => line.includes(`trdr ${command.path}`));
    expect(lines, command.path).not.toEqual([]);
  }
});

it('the topic of formats describes each of them', () => {
  const [formats] = topics.find(({ name }) => name === 'formats')?.sections ?? [];
  expect(formats?.terms?.map(([name]) => name)).toEqual(outputFormats);
});
