import type { Confluence } from '../../../tail/confluence.ts';
import type { TailSink } from '../../../tail/ports.ts';
import type { TailRow } from '../../../tail/post-row.ts';

/** An output for posts that passes on only the confluences that they make, of which it closes after `count`. */
export function confluentSink(
  sink: TailSink,
  confluence: Confluence,
  count = Number.POSITIVE_INFINITY,
): TailSink {
  let posts = 0;
  let records = 0;
  /** How many records come from how many posts, for each write that was not acknowledged. */
  const marks: { readonly posts: number; readonly records: number }[] = [];
  return {
    ...sink,
    write(rows) {
      if (records >= count) return false;
      const found: TailRow[] = [];
      for (const row of rows) {
        const record = confluence.add(row);
        if (record && records + found.length < count) found.push(record);
      }
      posts += rows.length;
      records += found.length;
      if (sink.delivered) marks.push({ posts, records });
      return found.length === 0 ? true : sink.write(found);
    },
    ...(sink.delivered && {
      delivered(onChange: () => void) {
        const acknowledged = sink.delivered?.(onChange);
        let done = 0;
        return () => {
          const known = acknowledged?.() ?? 0;
          while (marks[0] && marks[0].records <= known) done = marks.shift()?.posts ?? done;
          return done;
        };
      },
    }),
    state: () => confluence.state,
  };
}
