import { readFileSync } from 'node:fs';

/**
 * The samples of a status file by their names, and the label of a sample, such as the mode or the reason, by the name of
 * the label; of labels whose sample may be 0, the one whose sample is not.
 */
function samplesIn(text: string): Readonly<Record<string, number | string>> {
  const samples: Record<string, number | string> = {};
  const sample =
    /^trdr_tail_(\w+)\{tail="(?:[^"\\]|\\.)*"(?:,(\w+)="((?:[^"\\]|\\.)*)")?.*\} (\S+)$/gm;
  for (const [, name = '', label, labelled = '', value] of text.matchAll(sample)) {
    if (label !== name) samples[name] = Number(value);
    if (label !== undefined && (Number(value) !== 0 || name === 'exit_code'))
      samples[label] = labelled;
  }
  return samples;
}

export const readSamples = (path: string) =>
  samplesIn(readFileSync(path, { encoding: 'utf8', flag: 'a+' }));
