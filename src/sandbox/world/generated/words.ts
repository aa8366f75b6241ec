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
  '龍之交易員',
  'さくら🌸トレード',
  '단타왕',
  'Пётр Китов',
  'محمد الحوت',
  'שרה סוחרת',
  'Zoë Ångström',
  'नमन ट्रेडर',
  '👩‍🚀 astro',
  '🏴‍☠️ Captain',
  'ｆｕｌｌｗｉｄｔｈ',
  'e\u0301clair (combining)',
];

/** Profile texts. */
export const bios = [
  'Position first, thesis second, sleep third.',
  'on-chain since 2017. not financial advice.',
  'I buy high so that you can buy higher 🫡',
  'Full-time dad, part-time liquidity.',
  'ex-quant, now quant-ish',
  'メモ: 損切りは早く、利食いは遅く',
  'gm ☀️\nlinks below\n— no DMs',
  'Builder of small things. Holder of smaller bags.',
  'أتداول بهدوء',
  'charts, coffee, cope ☕️📉',
];
