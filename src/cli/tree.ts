import type { AnyCommand } from './command.ts';

type Load = () => Promise<AnyCommand>;

const commands: Readonly<Record<string, Load>> = {
  whois: async () => (await import('./commands/whois.ts')).whois,
  resolve: async () => (await import('./commands/resolve.ts')).resolveCommand,
  author: async () => (await import('./commands/author.ts')).author,
  token: async () => (await import('./commands/token.ts')).tokenCommand,
  pnl: async () => (await import('./commands/pnl.ts')).pnl,
  'thesis list': async () => (await import('./commands/thesis-list.ts')).thesisList,
  'thesis tail': async () => (await import('./commands/thesis-tail.ts')).thesisTail,
  'thesis relay': async () => (await import('./commands/thesis-relay.ts')).thesisRelay,
  'thesis refresh': async () => (await import('./commands/thesis-refresh.ts')).thesisRefresh,
  verify: async () => (await import('./commands/verify.ts')).verify,
  'launchpad user': async () => (await import('./commands/launchpad-user.ts')).launchpadUser,
  'launchpad callouts': async () =>
    (await import('./commands/launchpad-callouts.ts')).launchpadCallouts,
  'launchpad tail': async () => (await import('./commands/launchpad-tail.ts')).launchpadTail,
  'launchpad callers': async () =>
    (await import('./commands/launchpad-callers.ts')).launchpadCallers,
  'launchpad board': async () => (await import('./commands/launchpad-board.ts')).launchpadBoard,
  'launchpad history': async () =>
    (await import('./commands/launchpad-history.ts')).launchpadHistory,
  tails: async () => (await import('./commands/tails.ts')).tails,
  me: async () => (await import('./commands/me.ts')).me,
  price: async () => (await import('./commands/price.ts')).price,
  usage: async () => (await import('./commands/usage.ts')).usageCommand,
  'budget set': async () => (await import('./commands/budget.ts')).budgetSet,
  'budget unset': async () => (await import('./commands/budget.ts')).budgetUnset,
  'budget show': async () => (await import('./commands/budget.ts')).budgetShow,
  'auth login': async () => (await import('./commands/auth.ts')).authLogin,
  'auth status': async () => (await import('./commands/auth.ts')).authStatus,
  'auth switch': async () => (await import('./commands/auth.ts')).authSwitch,
  'auth logout': async () => (await import('./commands/auth.ts')).authLogout,
  'config list': async () => (await import('./commands/config.ts')).configList,
  'config get': async () => (await import('./commands/config.ts')).configGet,
  'config set': async () => (await import('./commands/config.ts')).configSet,
  'config unset': async () => (await import('./commands/config.ts')).configUnset,
  'config path': async () => (await import('./commands/config.ts')).configPath,
  'cache stats': async () => (await import('./commands/cache.ts')).cacheStats,
  'cache clear': async () => (await import('./commands/cache.ts')).cacheClear,
  'store login': async () => (await import('./commands/store.ts')).storeLogin,
  'store check': async () => (await import('./commands/store.ts')).storeCheck,
  'store status': async () => (await import('./commands/store.ts')).storeStatus,
  'store clear': async () => (await import('./commands/store.ts')).storeClear,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  api: async () => (await import('./commands/api.ts')).api,
  schema: async () => (await import('./commands/about.ts')).schema,
  skill: async () => (await import('./commands/about.ts')).skill,
  completion: async () => (await import('./commands/about.ts')).completion,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  help: async () => (await import('./commands/about.ts')).help,
  version: async () => (await import('./commands/about.ts')).versionCommand,
};

/**
 * All commands by the words that run them, in the order of the overview. A command is loaded only
 * when it runs. The table has no prototype, because words such as `constructor` would otherwise
 * name commands.
 */
export const tree: Readonly<Record<string, Load>> = Object.assign(Object.create(null), commands);

/** All commands, as users write them. */
export const commandPaths: readonly string[] = Object.keys(tree);

/** The words that can follow `words` in a line, such as `list` after `thesis`. */
export function wordsAfter(words: readonly string[]): readonly string[] {
  const next = commandPaths
    .map((path) => path.split(' '))
    .filter((path) => words.every((word, at) => path[at] === word))
    .flatMap((path) => path[words.length] ?? []);
  return [...new Set(next)];
}

/** The first words of commands with subcommands, such as `thesis`. */
export const groups = (): string[] => [
  ...new Set(
    commandPaths.filter((path) => path.includes(' ')).map((path) => path.split(' ')[0] ?? ''),
  ),
];

/** The sections of the overview, in the order in which a new user needs them. */
export const sections: Readonly<Record<string, readonly string[]>> = {
  'Look up': ['whois', 'resolve', 'author', 'token', 'pnl'],
  Theses: ['thesis', 'verify', 'tails'],
  Launchpad: ['launchpad'],
  Costs: ['me', 'price', 'usage', 'budget'],
  Setup: ['auth', 'config', 'cache', 'store', 'doctor'],
  Scripting: ['api', 'schema', 'skill', 'completion', 'sandbox'],
  Help: ['help', 'version'],
};

export const sectionOf = (name: string): string =>
  Object.keys(sections).find((title) => sections[title]?.includes(name)) ?? 'More';

export const groupSummaries: Readonly<Record<string, string>> = {
  thesis: 'List or stream theses',
  launchpad: 'Look up launchpad accounts, callouts and the leaderboard',
  auth: 'Manage keys and profiles',
  config: 'Manage settings',
  cache: 'Manage cached answers',
  budget: 'Limit what a profile may spend',
  store: 'Share one key between machines',
};
