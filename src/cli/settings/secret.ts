import { once } from '../../base/calls.ts';
import type { Io } from '../io.ts';

export type SecretFormat = (text: string, where: string, hint: string) => string;

export const SECRET_COMMAND = 'SECRET_COMMAND';

/** The API key, or the password of the store. */
export interface Secret {
  /** Whether it is saved, or a command prints it. */
  readonly isSet: boolean;
  /** The secret, unless its command has not been run. */
  readonly known: string | undefined;
  /** The setting or variable with the command; undefined if there is no command. */
  readonly command?: string | undefined;
  /** Runs the command if there is one: on the first call only, even if it fails. */
  get(): Promise<string | undefined>;
}

export const knownSecret = (known: string | undefined): Secret => ({
  isSet: known !== undefined,
  known,
  get: async () => known,
});

/** A secret that a command prints. `name` is the setting or variable that has the command. */
export function commandSecret(name: string, line: string, io: Io, read: SecretFormat): Secret {
  let known: string | undefined;
  const get = once(async () => {
    // Most runs have a saved key, and Node takes milliseconds to load child processes.
    const { printedSecret } = await import('./secret-command.ts');
    known = await printedSecret(name, line, io, read);
    return known;
  });
  return {
    isSet: true,
    get known() {
      return known;
    },
    command: name,
    get,
  };
}
