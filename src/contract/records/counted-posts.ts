import * as z from 'zod/mini';
import { int } from '../field.ts';

/** A value of the field of `--count-by`, which is in the record under its own name. */
export const CountedPosts = z.looseObject({
  posts: int('With --count-by: the number of posts with this value.'),
  authors: int('With --count-by: the number of different authors of these posts.'),
});
