import { unitsText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import template from './skill.md';

/**
 * The skill, and two parts of it that the docs show. `summaries` has what each command does, by its
 * path.
 */
export function skillTexts(summaries: ReadonlyMap<string, string>) {
  const facts = new Map([
    ...summaries,
    ...Object.entries(cu).map(([name, price]) => [name, unitsText(price)] as const),
    // What an agent may spend on a task if nobody named an amount.
    ['caution', unitsText(100_000)],
  ]);
  const skill = template.replace(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const fact = facts.get(name);
    if (fact === undefined) throw new Error(`the skill names an unknown command or price: ${name}`);
    return fact;
  });
  return {
    skill,
    exitTable: partOf(skill, /^\| exit \|[\s\S]*?(?=\n\n)/m),
    neverList: partOf(skill, /(?<=^## Never\n\n)[\s\S]*?(?=\n*$(?![\s\S]))/m),
  };
}

function partOf(text: string, pattern: RegExp): string {
  const [part] = pattern.exec(text) ?? [];
  if (part === undefined) throw new Error(`the skill has no part like ${pattern}`);
  return part;
}
