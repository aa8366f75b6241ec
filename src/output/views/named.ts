import type { CellKind, Column } from '../view.ts';

/** The values of a column of names, in which an address stands for a missing name. */
export const nameOrAddress = <T>(
  nameOf: (record: T) => unknown,
  addressOf: (record: T) => unknown,
): Pick<Column<T>, 'kind' | 'kindOf' | 'value'> => {
  const isNamed = (record: T) => (nameOf(record) ?? '') !== '';
  return {
    kind: 'text',
    kindOf: (record): CellKind => (isNamed(record) ? 'text' : 'address'),
    value: (record) => (isNamed(record) ? nameOf(record) : addressOf(record)),
  };
};
