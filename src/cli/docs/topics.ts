import { outputFormats, settingRows } from '../../state/config/settings-table.ts';
import { agentVariables } from '../agent.ts';
import { alwaysOptions, commonGroups } from '../args/common.ts';
import type { Options } from '../args/option.ts';
import { exitCodes, limitCodes } from '../exit.ts';
import { describeFlag } from './describe-flag.ts';
import type { Definition, DocPage, Section } from './page.ts';

/** Environment variables that are not settings. */
const variables: readonly Definition[] = [
  ['TRDR_API_KEY', 'API key; never accepted as an argument'],
  ['TRDR_STORE_PASSWORD', 'password of the shared store; overrides the saved one'],
  ['TRDR_PROFILE', 'profile to use instead of the current one'],
  ['TRDR_NO_PROMPT', 'never ask; behave as if not interactive (CI has the same effect)'],
  ['AI_AGENT, CLAUDECODE...', 'set by agents; if one is on, never ask (see "trdr help money")'],
  ['TRDR_CONFIG_DIR', 'folder of the config file'],
  ['TRDR_STATE_DIR', 'folder of the ledger and the rate limit state'],
  ['TRDR_CACHE_DIR', 'folder of cached answers'],
  [
    'XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'parents of the folders above, if TRDR_CONFIG_DIR, TRDR_STATE_DIR or TRDR_CACHE_DIR is not set',
  ],
  ['NO_COLOR, FORCE_COLOR', 'never or always use color'],
  ['TERM=dumb', 'disables color and progress lines'],
  ['TZ', 'time zone of times in tables'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy for requests to the service'],
  ['NODE_EXTRA_CA_CERTS', 'file with additional certificate authorities'],
];

/** Environment variables that override a setting, described like that setting. */
const overrides: readonly Definition[] = Object.values(settingRows).flatMap((row): Definition[] =>
  'env' in row ? [[row.env, row.about]] : [],
);

const formats: Readonly<Record<string, string>> = {
  table: 'for people: colors, grouped digits, as wide as the terminal',
  ndjson: 'one compact JSON object per line; also for streams',
  json: 'one JSON document; not for streams',
  csv: 'comma-separated values with a header; text that a spreadsheet would execute gets an apostrophe',
  tsv: 'tab-separated values with a header; tabs and line breaks as \\t and \\n',
  markdown: 'a Markdown table with the columns of the terminal table',
};

const flagSection = (title: string, flags: Options): Section => ({
  title,
  terms: Object.values(flags).map((flag) => [flag.flags, describeFlag(flag)]),
});

/** The help pages that are not about a command: `trdr help TOPIC`. */
export const topics: readonly DocPage[] = [
  {
    name: 'flags',
    summary: 'Flags that many commands accept',
    about: [
      'The help of each command names those that it accepts. They may also be written before the command: "trdr --sandbox whois mira".',
      'A flag that takes one value is given once. Write a value that begins with a dash behind an equals sign: --grep=-10%.',
    ],
    sections: [
      flagSection('Output', commonGroups.output),
      flagSection('Service', commonGroups.service),
      flagSection('Cost', commonGroups.money),
      flagSection('All commands', alwaysOptions),
    ],
  },
  {
    name: 'environment',
    summary: 'Environment variables',
    about: [
      'Flags override the environment, which overrides the profile, which overrides the defaults.',
    ],
    sections: [
      { title: 'Settings', terms: overrides },
      { title: 'Other variables', terms: variables },
      {
        title: 'Examples',
        code: {
          'trdr config list --origin': 'see where each value comes from',
          'TRDR_PROFILE=desk trdr me': 'use a different profile once',
        },
      },
    ],
  },
  {
    name: 'formats',
    summary: 'Output formats and selecting fields',
    about: [
      'stdout contains only data; notices, prompts, progress, costs and errors go to stderr.',
      'The default format is table on a terminal, and ndjson otherwise. Choose another one with --output, with the extension of --out FILE, with TRDR_OUTPUT, or with "trdr config set output FORMAT".',
      '--out FILE replaces FILE when the output is complete. Only pnl asks first, because its answers are expensive; tails append.',
    ],
    sections: [
      {
        title: 'Formats',
        terms: outputFormats.map((format): Definition => [format, formats[format] ?? '']),
      },
      {
        title: 'Fields',
        text: [
          '--fields a,b.c prints only these fields, in this order, in every format. JSON nests them as in the record: {"a":1,"b":{"c":2}}. "trdr schema COMMAND" describes all documented fields. trdr rejects other names before it sends anything, so that a typo costs nothing. "brief" stands for the few fields of a command that are wanted most often. A leading dot selects a field that is not documented: .newField or .windows.24h.newField. It is null in records that lack it.',
          'In tables, columns that are named in --fields are shown in full; long text is wrapped. --wide shows all columns of a table in full, even if they are wider than the terminal.',
          'JSON, NDJSON, CSV and TSV contain every field that the service sent, including undocumented ones, with unchanged names, nulls and digits: 1.10 stays 1.10. A CSV or TSV lacks fields that first appear after its header was written; a notice names them. An unpaired surrogate is written as U+FFFD. Tables round numbers and shorten text.',
          'What the service says about an answer as a whole is a field of each row: asOf if the service states when it observed the data, period and capturedAt of a leaderboard. A record of one subject also has readAt, when trdr read it, and via: service, or cache for an earlier answer.',
          '--times iso writes all documented timestamps as ISO 8601 in UTC instead of epoch milliseconds.',
        ],
      },
      {
        title: 'Errors',
        text: [
          'Errors go to stderr: as text if stderr is a terminal or the output is a table, otherwise as one line of JSON. The exit code shows the type of error: see "trdr help exit-codes".',
        ],
      },
      {
        title: 'Examples',
        code: {
          'trdr thesis list --fields authorHandle,tokenSymbol,thesis': 'print a narrower table',
          'trdr pnl mira solwolf --out pnl.csv': 'write a CSV file',
          "trdr whois mira --json | jq -r '.solanaAddress'": 'print a single value',
        },
      },
    ],
  },
  {
    name: 'times',
    summary: 'How to write times and durations',
    about: [
      'Flags such as --since, --until and --at accept a point in time; --timeout, --wait and --duration accept a length of time.',
    ],
    sections: [
      {
        title: 'Times',
        terms: [
          ['2026-01-31', 'midnight at the beginning of that day'],
          ['2026-01-31T09:30', 'a date and time; local, or UTC with --utc'],
          ['2026-01-31T09:30Z', 'a time with an offset: Z, +02:00'],
          ['1769851800000', 'epoch milliseconds (13 digits)'],
          ['2h, 7d, 1w', 'this long ago'],
          [
            'now, today, yesterday',
            'the present time; midnight at the beginning of today or of yesterday',
          ],
        ],
      },
      {
        title: 'Durations',
        terms: [
          ['500ms, 30s, 5m, 2h, 7d, 1w', 'a number with its unit'],
          ['1h30m', 'several numbers with units'],
          ['90', 'seconds'],
        ],
      },
      {
        title: 'Output',
        text: [
          'JSON, NDJSON, CSV and TSV contain timestamps as the service sends them, in epoch milliseconds, unless --times iso is given. Tables and messages on a terminal show them in the time zone of the machine, or in UTC with --utc. Messages in a pipe or a log use UTC.',
        ],
      },
      {
        title: 'Examples',
        code: {
          'trdr thesis list --since 2h': 'list the theses of the last two hours',
          'trdr thesis list --since 2026-01-30 --until 2026-01-31 --utc':
            'list the theses of one UTC day',
        },
      },
    ],
  },
  {
    name: 'money',
    summary: 'What calls cost, and how to limit it',
    about: [
      'Calls are paid in compute units (CU). trdr estimates the cost of a run before it sends anything, and records every paid call in a local ledger.',
    ],
    sections: [
      {
        title: 'Before a run',
        terms: [
          ['trdr price [COMMAND]', "prints the price list, or the prices of a command's calls"],
          [
            '--dry-run',
            'prints the calls with their minimum and maximum cost; sends none of them; tables also show the total and what is left, for which the free me is asked',
          ],
          [
            'confirmAbove',
            'setting: trdr asks before runs that can cost more than this amount [100,000 CU]',
          ],
          ['--yes', 'skips the confirmation, and starts without a spending limit'],
          ['--max-cu CU', 'spending limit: no call is sent that could exceed it'],
          ['trdr budget set', 'limits all runs of a profile together, per UTC day or month'],
          [
            '--wait-for-budget',
            'tails and relays only: sleeps until a used-up budget or allowance renews, instead of exiting 6',
          ],
        ],
      },
      {
        title: 'Confirmation',
        text: [
          'If the maximum cost of a run is known and exceeds confirmAbove, trdr asks for confirmation before the run. The question states the cost and what is left. It is asked on the terminal even if stdin or stdout is a pipe, as long as stderr is a terminal. Without a terminal, under an agent, or if TRDR_NO_PROMPT or CI is set, the run exits 11 (CONFIRMATION_NEEDED) before any paid call. It also exits 11 if you decline (NOT_CONFIRMED).',
          '--max-cu N means that you agree to N CU, whatever the estimate is: the run starts at once and spends up to N. If N CU are not enough, the run lists what it skipped, and exits 6 (CEILING). --sandbox never asks.',
        ],
      },
      {
        title: 'Agents',
        text: [
          `A run is under an agent if one of these variables is on: ${Object.keys(agentVariables).join(', ')}. It never asks, even on a terminal, because only a person can agree to a cost. The person decides on a limit for one run (--max-cu N), or gives agents a profile with a budget. "trdr usage --by agent" shows what each agent has spent.`,
        ],
        code: {
          'trdr auth login --profile agent': 'create a profile for agents',
          'trdr budget set day 50k --profile agent': 'limit what all agents spend per day',
        },
      },
      {
        title: 'Commands without a known total cost',
        text: [
          'The total cost is not known in advance for tails without --duration; for lists with --all, with a filter, with --until, or with --since but without --limit; for "trdr api --paginate"; and for whois, resolve and launchpad user with more than 10,000 subjects.',
          'These commands start at once. When their cost reaches the setting confirmAbove, they ask on a terminal whether to continue; without a terminal and under an agent, they exit 6 (CEILING) and print the command that continues the run. --max-cu sets a different limit, and --yes removes the limit. A list with a limit (--limit, or the default of 20) stops after 20 pages in a row without a match.',
        ],
      },
      {
        title: 'After a run',
        text: [
          'On a terminal and after an interrupt, a command that has printed results or spent something ends with one line: its result, its cost and, if known, the units that are left. After an interrupt, the line also states how many answers are cached.',
        ],
        terms: [
          [
            '--receipt FILE',
            'writes one JSON line when the run ends, also after a failure or a signal: command, calls, cu and cuAtMost as in the ledger, found, missing and failed if the command counts them, left if known, and exit; - is stderr',
          ],
          ['trdr me', 'shows what is left of both allowances, units and wallet reveals (free)'],
          [
            'trdr usage',
            'shows what this machine has spent, by command, endpoint, day, profile, host or agent',
          ],
          ['trdr budget show', 'shows what is left of the budgets, and when they renew'],
          ['trdr usage --reconcile', 'compares the ledger with what the service counted'],
        ],
      },
      {
        title: 'Saving CU',
        text: [
          'Answers are cached: repeating a lookup within --max-age is free (1h for users, 10m for trading numbers). A wallet lookup costs 30,000 CU, a lookup by handle or user id 100 CU; each costs 200 CU if it finds nothing. An interrupted export continues with --resume, and does not pay again for the handles that it has saved.',
          '--sandbox runs a command against the embedded service, for free.',
        ],
      },
      {
        title: 'Examples',
        code: {
          'trdr pnl --file desk.txt --dry-run': 'print the cost without paying anything',
          'trdr pnl --file desk.txt --out pnl.csv --max-cu 5M': 'spend at most 5,000,000 CU',
          'trdr config set confirmAbove 1M': 'ask only before runs above 1,000,000 CU',
          'trdr budget set day 500k': 'limit the CU that all runs of one day may spend',
        },
      },
    ],
  },
  {
    name: 'exit-codes',
    summary: 'What each exit code means',
    about: ['"trdr COMMAND --help" lists the exit codes of a command.'],
    sections: [
      {
        title: 'Exit codes',
        terms: Object.entries(exitCodes).map(([code, meaning]): Definition => [code, meaning]),
      },
      {
        title: 'Error codes of limits and confirmations',
        text: [
          'The field code of an error distinguishes the causes of exit 6 and 11. Besides these, exit 6 has the codes of the service, QUOTA_EXCEEDED and REVEAL_LIMIT_REACHED.',
        ],
        terms: Object.entries(limitCodes).map(
          ([code, { exit, meaning }]): Definition => [code, `exit ${exit}: ${meaning}`],
        ),
      },
      {
        title: 'Examples',
        code: {
          'trdr whois mira -q > /dev/null || echo "exit code $?"':
            'print the exit code of a failed lookup',
        },
      },
    ],
  },
  {
    name: 'store',
    summary: 'Sharing one key between machines',
    about: [
      'Processes on one machine share the rate limit, the cache and the ledger through the folders of "trdr help environment", without any setup.',
      'Without a shared store, each machine counts only its own calls: "trdr usage --reconcile" shows what others have spent with the key, and requests above the common rate limit are delayed and retried.',
    ],
    sections: [],
  },
];
