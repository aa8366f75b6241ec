/** The sections of the top help, in the order in which a newcomer meets them. */
export const sections: readonly { readonly title: string; readonly commands: readonly string[] }[] = [
  { title: 'Look up', commands: ['whois', 'resolve', 'pnl'] },
  { title: 'Theses', commands: ['thesis list', 'thesis tail'] },
  {
    title: 'Launchpad',
    commands: ['launchpad user', 'launchpad callouts', 'launchpad tail', 'launchpad board'],
  },
  { title: 'Costs', commands: ['me', 'price', 'usage'] },
  { title: 'Setup', commands: ['auth', 'config', 'cache', 'doctor'] },
  { title: 'Scripting', commands: ['api', 'schema', 'completion', 'sandbox'] },
];
