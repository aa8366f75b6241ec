import { safeLine } from './safe-text.ts';

export interface Move {
  readonly kind: unknown;
  readonly amount: number | undefined;
  readonly name: string;
}

export const isWanted = (kind: unknown, changed: boolean, only: readonly string[]): boolean =>
  only.length > 0 ? typeof kind === 'string' && only.includes(kind) : !changed || kind !== 'same';

export function movesText(
  moves: readonly Move[],
  words: { readonly up: string; readonly down: string },
  amountText: (amount: number) => string,
): string {
  const count = (kind: string) => moves.filter((move) => move.kind === kind).length;
  const largest = (sign: 1 | -1) =>
    moves.reduce<Move | undefined>((largestMove, move) => {
      const amount = sign * (move.amount ?? 0);
      return amount > sign * (largestMove?.amount ?? 0) ? move : largestMove;
    }, undefined);
  const text = (word: string, move: Move | undefined) =>
    move?.amount === undefined ? [] : [`${word} ${safeLine(move.name)} ${amountText(move.amount)}`];
  return [
    `${count('new')} new, ${count('left')} out, ${count('up')} up, ${count('down')} down`,
    ...text(words.up, largest(1)),
    ...text(words.down, largest(-1)),
  ].join('; ');
}
