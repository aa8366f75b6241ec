import * as z from 'zod/mini';
import { int } from '../field.ts';

/** A value of the field by which posts are counted, which is in the record under its own name. */
export const CountedPosts = z.looseObject({
  posts: int('If posts are counted: the number of posts with this value.'),
  authors: int('If posts are counted: the number of different authors of these posts.'),
});
