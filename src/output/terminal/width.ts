import { displayWidth } from './display-width.ts';

const narrow =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2190-\u2199\u2500-\u25a1]*$/;

export const widthOf = (text: string): number =>
  narrow.test(text) ? text.length : displayWidth(text);

let segmenter: Intl.Segmenter | undefined;

function* clusters(text: string): Generator<readonly [string, number]> {
  segmenter ??= new Intl.Segmenter('en');
  for (const { segment } of segmenter.segment(text)) yield [segment, widthOf(segment)];
}

function head(text: string, width: number): string {
  if (narrow.test(text)) return text.slice(0, Math.max(0, width));
  let used = 0;
  let end = 0;
  for (const [cluster, cells] of clusters(text)) {
    if (used + cells > width) break;
    used += cells;
    end += cluster.length;
  }
  return text.slice(0, end);
}

export function truncate(text: string, width: number, ellipsis = '…'): string {
  if (widthOf(text) <= width) return text;
  if (width <= ellipsis.length) return head(ellipsis, width);
  return head(text, width - ellipsis.length).trimEnd() + ellipsis;
}

/** The end of a text that is too long, after an ellipsis. */
export function truncateStart(text: string, width: number, ellipsis = '…'): string {
  const cells = widthOf(text);
  if (cells <= width) return text;
  if (width <= ellipsis.length) return head(ellipsis, width);
  const surplus = cells - width + ellipsis.length;
  let start = 0;
  let dropped = 0;
  for (const [cluster, taken] of clusters(text)) {
    if (dropped >= surplus) break;
    dropped += taken;
    start += cluster.length;
  }
  return ellipsis + text.slice(start).trimStart();
}

function* pieces(text: string): Generator<string> {
  for (const word of text.split(/(?<=\s)(?=\S)/)) {
    if (narrow.test(word)) {
      yield word;
      continue;
    }
    let run = '';
    for (const [cluster, cells] of clusters(word)) {
      // A line must not begin with punctuation.
      if (cells > 1 && run !== '' && !/^\p{P}/u.test(cluster)) {
        yield run;
        run = '';
      }
      run += cluster;
    }
    if (run !== '') yield run;
  }
}

/** Words that are wider than a line are broken too. */
export function wrap(text: string, width: number): string[] {
  const room = Math.max(1, width);
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    const close = () => {
      lines.push(line.trimEnd());
      line = '';
    };
    for (const piece of pieces(paragraph.trimStart())) {
      let rest = piece;
      if (line !== '' && widthOf(line + rest.trimEnd()) > room) close();
      while (widthOf(rest.trimEnd()) > room) {
        // A character is wider than the whole line: omit the rest of its piece.
        const part = head(rest, room);
        if (part === '') break;
        lines.push(part.trimEnd());
        rest = rest.slice(part.length);
      }
      if (widthOf(rest.trimEnd()) > room) continue;
      line += rest;
    }
    close();
  }
  return lines;
}
