// Draws terminal output as SVG: takes text with color codes.
import { load } from './bundle.mjs';

const { widthOf } = await load('src/output/terminal/width.ts');

const CELL = 8.4;
const LINE = 19;
const MARGIN = 18;
const BAR = 34;

const ink = { text: '#d7dce2', dim: '#8b949e', page: '#12161c', frame: '#2a313c' };
/** The eight colors, normal and bright. */
const colors = {
  ...{ 30: '#5c6670', 31: '#ff7b72', 32: '#56d364', 33: '#e3b341', 34: '#79b8ff', 35: '#d2a8ff' },
  ...{ 36: '#56d4dd', 37: '#d7dce2', 90: '#8b949e', 91: '#ffa198', 92: '#7ee787', 93: '#f2cc60' },
  ...{ 94: '#a5d6ff', 95: '#e2c5ff', 96: '#76e3ea', 97: '#ffffff' },
};
const off = { bold: false, dim: false, underline: false, color: undefined };

/** The style after a code; unsupported codes are ignored. */
function styled(style, code) {
  if (code === 0) return off;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return { ...style, color: undefined };
  return colors[code] ? { ...style, color: colors[code] } : style;
}

const escapeXml = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const letters = new Intl.Segmenter('en');

/** Splits text at wide characters and at gaps, so that each piece is positioned on its own. */
function pieces(text) {
  const all = [''];
  for (const { segment } of letters.segment(text)) {
    const last = all.at(-1);
    const isWide = widthOf(segment) !== 1;
    const isBehind = last.endsWith('  ')
      ? segment !== ' '
      : last !== '' && widthOf(last) !== [...last].length;
    if (isWide || isBehind) all.push(segment);
    else all[all.length - 1] = last + segment;
  }
  return all;
}

/** Splits a line where its style changes; each part has its first cell. Returns the style at the end of the line. */
function* runsOf(line, start) {
  let style = start;
  let cell = 0;
  for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
    const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1];
    if (codes !== undefined) {
      for (const code of codes.split(';')) style = styled(style, Number(code));
      continue;
    }
    for (const text of pieces(part)) {
      if (text.trim() !== '') yield { text, cell, style };
      cell += widthOf(text);
    }
  }
  return style;
}

function attributes({ bold, dim, underline, color }) {
  const fill = color ?? (dim ? ink.dim : undefined);
  return [
    fill && ` fill="${fill}"`,
    dim && color && ' opacity=".7"',
    bold && ' font-weight="bold"',
    underline && ' text-decoration="underline"',
  ]
    .filter(Boolean)
    .join('');
}

/** Draws the output of a terminal that is `columns` wide. */
export function picture(text, { columns, title }) {
  const lines = text.replace(/\n$/, '').split('\n');
  const width = Math.ceil(columns * CELL + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const number = (value) => Number(value.toFixed(1));
  let style = off;
  const rows = lines.map((line, index) => {
    const runs = runsOf(line, style);
    const spans = [];
    let next = runs.next();
    for (; !next.done; next = runs.next()) {
      const { text: run, cell, style: its } = next.value;
      const shown = run.trimEnd();
      const indent = shown.length - shown.trimStart().length;
      const x = number(MARGIN + (cell + indent) * CELL);
      // Set the width of the text, because fonts differ in width.
      const cells = widthOf(shown.trimStart());
      const length =
        cells > 1 ? ` textLength="${number(cells * CELL)}" lengthAdjust="spacingAndGlyphs"` : '';
      spans.push(
        `<tspan x="${x}"${length}${attributes(its)}>${escapeXml(shown.trimStart())}</tspan>`,
      );
    }
    style = next.value;
    return spans.length === 0
      ? ''
      : `<text y="${BAR + (index + 1) * LINE - 5}">${spans.join('')}</text>\n`;
  });
  const light = (index, fill) =>
    `<circle cx="${MARGIN + 6 + index * 20}" cy="${BAR / 2}" r="6" fill="${fill}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">\n`,
    `<title>${escapeXml(title)}</title>\n`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="${ink.page}" stroke="${ink.frame}"/>\n`,
    `${light(0, '#ff5f57')}${light(1, '#febc2e')}${light(2, '#28c840')}\n`,
    `<g fill="${ink.text}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">\n`,
    ...rows,
    '</g>\n</svg>\n',
  ].join('');
}
