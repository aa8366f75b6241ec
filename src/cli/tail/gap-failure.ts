import { Failure } from '../../base/failure.ts';

/** The failure of a run that ended by itself although posts are missing, which no later run will deliver. */
export const gapFailure = (text: string): Failure =>
  new Failure('service', text, {
    code: 'GAP',
    hint: 'read that part of the feed again with --since and --until of the list command',
  });
