import type { Subject } from '../../../src/core/lookup/subject.ts';

/** The subject of a handle. */
export const handleSubject = (text: string): Subject => ({
  text,
  type: 'handle',
  value: text,
  normal: text,
});

/** So many handles: t0, t1 and so on. */
export const subjectsUpTo = (count: number): Subject[] =>
  Array.from({ length: count }, (_, at) => handleSubject(`t${at}`));

/** These subjects in their rows, each with its own handle unless `handleOf` says otherwise. */
export const handlesOf = (
  subjects: readonly Subject[],
  handleOf: (row: number) => string | undefined = (row) => subjects[row]?.value,
) => ({
  subjects,
  hasOthers: true,
  handleOf,
  nameOf: (row: number) => handleOf(row) ?? subjects[row]?.value ?? '',
  textOf: (row: number) => subjects[row]?.text ?? '',
});
