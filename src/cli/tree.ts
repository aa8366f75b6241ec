import type { AnyCommand } from './command.ts';

type Load = () => Promise<AnyCommand>;

const commands: Readonly<Record<string, Load>> = {
  resolve: async () => (await import('./commands/resolve.ts')).resolveCommand,
  whois: async () => (await import('./commands/whois.ts')).whois,
  pnl: async () => (await import('./commands/pnl.ts')).pnl,
  'thesis list': async () => (await import('./commands/thesis-list.ts')).thesisList,
  'thesis tail': async () => (await import('./commands/thesis-tail.ts')).thesisTail,
  'thesis relay': async () => (await import('./commands/thesis-relay.ts')).thesisRelay,
  me: async () => (await import('./commands/me.ts')).me,
  price: async () => (await import('./commands/price.ts')).price,
  'launchpad user': async () => (await import('./commands/launchpad-user.ts')).launchpadUser,
  'launchpad callouts': async () =>
    (await import('./commands/launchpad-callouts.ts')).launchpadCallouts,
  'launchpad board': async () => (await import('./commands/launchpad-board.ts')).launchpadBoard,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  schema: async () => (await import('./commands/about.ts')).schema,
  skill: async () => (await import('./commands/about.ts')).skill,
  completion: async () => (await import('./commands/about.ts')).completion,
  'budget set': async () => (await import('./commands/budget.ts')).budgetSet,
  'budget unset': async () => (await import('./commands/budget.ts')).budgetUnset,
  'budget show': async () => (await import('./commands/budget.ts')).budgetShow,
  'store login': async () => (await import('./commands/store.ts')).storeLogin,
  'store check': async () => (await import('./commands/store.ts')).storeCheck,
  'store status': async () => (await import('./commands/store.ts')).storeStatus,
  'store clear': async () => (await import('./commands/store.ts')).storeClear,
  usage: async () => (await import('./commands/usage.ts')).usageCommand,
  'cache stats': async () => (await import('./commands/cache.ts')).cacheStats,
  'cache clear': async () => (await import('./commands/cache.ts')).cacheClear,
  'auth login': async () => (await import('./commands/auth.ts')).authLogin,
  'auth status': async () => (await import('./commands/auth.ts')).authStatus,
  'auth switch': async () => (await import('./commands/auth.ts')).authSwitch,
  'auth logout': async () => (await import('./commands/auth.ts')).authLogout,
  'config list': async () => (await import('./commands/config.ts')).configList,
  'config get': async () => (await import('./commands/config.ts')).configGet,
  'config set': async () => (await import('./commands/config.ts')).configSet,
  'config unset': async () => (await import('./commands/config.ts')).configUnset,
  'config path': async () => (await import('./commands/config.ts')).configPath,
  api: async () => (await import('./commands/api.ts')).api,
  'launchpad tail': async () => (await import('./commands/launchpad-tail.ts')).launchpadTail,
  verify: async () => (await import('./commands/verify.ts')).verify,
  help: async () => (await import('./commands/about.ts')).help,
  version: async () => (await import('./commands/about.ts')).versionCommand,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
};

/**
 * All commands by the words that run them. A command is loaded only when it runs. The table has no prototype, because
 * words such as `constructor` would otherwise name commands.
 */
export const tree: Readonly<Record<string, Load>> = Object.assign(Object.create(null), commands);

/** The first words of commands with subcommands, such as `thesis`. */
export const groups = (): string[] => [
  ...new Set(
    Object.keys(tree)
      .filter((path) => path.includes(' '))
      .map((path) => path.split(' ')[0] ?? ''),
  ),
];
