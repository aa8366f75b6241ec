import { settingRows } from '../../state/config/settings-table.ts';
import { agentVariables } from '../agent.ts';
import { alwaysOptions, commonGroups } from '../args/common.ts';
import type { Options } from '../args/option.ts';
import { exitCodes, limitCodes } from '../exit.ts';
import { describeFlag } from './describe-flag.ts';
import type { DocPage } from './page.ts';
import { type Definition, type Inserts, readProse } from './prose.ts';
import environment from './topics/environment.md';
import exits from './topics/exit-codes.md';
import flags from './topics/flags.md';
import formats from './topics/formats.md';
import money from './topics/money.md';
import store from './topics/store.md';
import times from './topics/times.md';

/** Environment variables that override a setting, described like that setting. */
const overrides: readonly Definition[] = Object.values(settingRows).flatMap((row): Definition[] =>
  'env' in row ? [[row.env, row.about]] : [],
);

const flagTerms = (options: Options): Definition[] =>
  Object.values(options).map((flag) => [flag.flags, describeFlag(flag)]);

function topic(name: string, markdown: string, inserts: Inserts = {}): DocPage {
  const { title, text, sections } = readProse(markdown, inserts);
  return { name, summary: title, about: text, sections };
}

/** The help pages that are not about a command: `trdr help TOPIC`. */
export const topics: readonly DocPage[] = [
  topic('flags', flags, {
    output: flagTerms(commonGroups.output),
    service: flagTerms(commonGroups.service),
    cost: flagTerms(commonGroups.money),
    always: flagTerms(alwaysOptions),
  }),
  topic('environment', environment, { settings: overrides }),
  topic('formats', formats),
  topic('times', times),
  topic('money', money, { agents: Object.keys(agentVariables).join(', ') }),
  topic('exit-codes', exits, {
    exits: Object.entries(exitCodes),
    limits: Object.entries(limitCodes).map(([code, { exit, meaning }]) => [
      code,
      `exit ${exit}: ${meaning}`,
    ]),
  }),
  topic('store', store),
];
