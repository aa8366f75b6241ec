import * as z from 'zod/mini';
import { boolean, floatOrNull, int, intOrNull, optional, stringOrNull } from '../field.ts';
import { ListedCallout } from './launchpad.ts';
import { answered, FailedSubject, MissingSubject } from './subject.ts';

/** What became of the callouts of a wallet. */
export const CallerFigures = z.looseObject({
  wallet: stringOrNull('Wallet of the author.'),
  userName: stringOrNull("Author's launchpad username."),
  rank: z.optional(int('With --board: position on the leaderboard.')),
  calls: int('Callouts that were read, newest first.'),
  complete: boolean('Whether these are all that the service holds.'),
  firstAt: intOrNull('Post time of the oldest of them, epoch ms.'),
  lastAt: intOrNull('Post time of the newest of them, epoch ms.'),
  medianAgeMs: intOrNull('Median age; null for fewer than five.'),
  priced: int('Callouts whose multiple is known, to which the following figures refer.'),
  medianMultiple: floatOrNull('Median multiple now; null for fewer than five.'),
  multiples: optional(z.array(z.number()), 'The multiples now, if fewer than five.'),
  atLeast2x: intOrNull('Callouts that are at 2x or more now; null if none is known.'),
  shareAtLeast2x: floatOrNull('Their share, from 0 to 1; null for fewer than five.'),
  medianMaxMultiplier: floatOrNull(
    'Median of the best multiples since the callouts, in hindsight; null for fewer than five.',
  ),
  maxMultipliers: optional(z.array(z.number()), 'The best multiples, if fewer than five.'),
});
export type CallerFigures = z.infer<typeof CallerFigures>;

/** A callout of a caller. Its multiples are those of the time at which it was read. */
export const CallerCallout = z.looseObject({
  ...ListedCallout.shape,
  readAt: int('When the callouts of its author were read, epoch ms.'),
});

export const CallerRecord = z.union([answered(CallerFigures.shape), MissingSubject, FailedSubject]);
