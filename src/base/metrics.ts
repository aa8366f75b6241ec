export type MetricLabels = readonly (readonly [name: string, value: string])[];

/** A metric with its samples. The names of counters end in `_total`; all others are gauges. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly (readonly [labels: MetricLabels, value: number])[];
}

const escaped = (text: string) =>
  text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));

const labelText = (labels: MetricLabels) =>
  labels.length === 0
    ? ''
    : `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;

/**
 * Metrics in the text format of Prometheus. Counters are declared under their full name, as the
 * node exporter, promtool and OpenMetrics 2.0 require.
 */
export function metricsText(prefix: string, families: readonly MetricFamily[]): string {
  const lines: string[] = [];
  for (const { name, help, samples } of families) {
    const finite = samples.filter(([, value]) => Number.isFinite(value));
    if (finite.length === 0) continue;
    const type = name.endsWith('_total') ? 'counter' : 'gauge';
    lines.push(`# HELP ${prefix}${name} ${help}`, `# TYPE ${prefix}${name} ${type}`);
    for (const [labels, value] of finite)
      lines.push(`${prefix}${name}${labelText(labels)} ${Math.round(value * 1_000) / 1_000}`);
  }
  return `${lines.join('\n')}\n# EOF\n`;
}
