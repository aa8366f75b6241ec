import type { TailHealth, TailIdentity } from './health.ts';
import { metrics } from './metric-families.ts';

const PREFIX = 'trdr_tail_';

const escaped = (text: string) =>
  text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

type Label = readonly [name: string, value: string];
type Sample = readonly [labels: readonly Label[], value: number];

const labels = (pairs: readonly Label[]) =>
  `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;

/**
 * The state of a tail as metrics in the text format of Prometheus. Counters are declared under their full name, as
 * the node exporter, promtool and OpenMetrics 2.0 require; Prometheus accepts that too. Every sample has the label
 * `tail`, so that the files of several tails can be in one folder.
 */
export function tailMetrics(health: TailHealth, { tail, command, version }: TailIdentity): string {
  const lines: string[] = [];
  const write = (name: string, help: string, samples: readonly Sample[]) => {
    const known = samples.filter(([, sample]) => Number.isFinite(sample));
    if (known.length === 0) return;
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    lines.push(`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`);
    for (const [pairs, sample] of known)
      lines.push(
        `${PREFIX}${name}${labels([['tail', tail], ...pairs])} ${Math.round(sample * 1_000) / 1_000}`,
      );
  };
  const about = [
    ['command', command],
    ['version', version],
  ] as const;
  write('build_info', 'Command and version of the tail; the value is always 1.', [[about, 1]]);
  for (const [name, help, of] of metrics) {
    const value = of(health);
    if (typeof value === 'number') write(name, help, [[[], value]]);
    else if (value)
      write(
        name,
        help,
        value.values.map(([text, sample]) => [[[value.label, text]], sample]),
      );
  }
  return `${lines.join('\n')}\n# EOF\n`;
}
