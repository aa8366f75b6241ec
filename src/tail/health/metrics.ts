import type { TailHealth, TailIdentity } from './health.ts';
import { families } from './metric-families.ts';

const PREFIX = 'trdr_tail_';

const escaped = (text: string) =>
  text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

const labels = (pairs: readonly (readonly [string, string])[]) =>
  `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;

/**
 * The state of a tail as OpenMetrics text. Every sample has the label `tail`, so that the files of several
 * tails can be in one folder for the node exporter. Its parser predates the types info and stateset, so
 * gauges are used instead.
 */
export function tailMetrics(health: TailHealth, { tail, command, version }: TailIdentity): string {
  const about: readonly (readonly [string, string])[] = [['tail', tail]];
  const build = [...about, ['command', command], ['version', version]] as const;
  const lines = [
    `# TYPE ${PREFIX}build_info gauge`,
    `# HELP ${PREFIX}build_info Command and version of the tail; the value is always 1.`,
    `${PREFIX}build_info${labels(build)} 1`,
  ];
  for (const { name, type, unit, help, of } of families) {
    const value = of(health);
    const all: readonly (readonly [readonly (readonly [string, string])[], number])[] =
      typeof value === 'number'
        ? [[about, value]]
        : (value?.values.map(([text, sample]) => [[...about, [value.label, text] as const], sample]) ?? []);
    const samples = all.filter(([, sample]) => Number.isFinite(sample));
    if (samples.length === 0) continue;
    lines.push(`# TYPE ${PREFIX}${name} ${type}`);
    if (unit !== undefined) lines.push(`# UNIT ${PREFIX}${name} ${unit}`);
    lines.push(`# HELP ${PREFIX}${name} ${help}`);
    const suffix = type === 'counter' ? '_total' : '';
    for (const [pairs, sample] of samples)
      lines.push(`${PREFIX}${name}${suffix}${labels(pairs)} ${Math.round(sample * 1_000) / 1_000}`);
  }
  return `${lines.join('\n')}\n# EOF\n`;
}
