/** Variables that no child process gets: secrets, and those meant for this process only. */
const withheld = new Set([
  'TRDR_API_KEY',
  'TRDR_STORE_PASSWORD',
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
]);

/** The environment of a child process that needs no key. */
export const childEnv = (
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.has(name.toUpperCase())));
