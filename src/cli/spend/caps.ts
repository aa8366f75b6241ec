import { join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { openConfig } from '../../state/config/config.ts';
import { profileOf } from '../../state/config/config-file.ts';
import { readSetting } from '../../state/config/read-setting.ts';
import type { Caps } from '../../state/ledger/budget.ts';
import type { RunSettings } from '../settings/settings.ts';

const capsOf = (day: number | undefined, month: number | undefined): Caps | undefined =>
  day === undefined && month === undefined ? undefined : { day, month };

/**
 * Returns a function that returns the present budgets of the profile, so that "trdr budget set" also applies to
 * a tail that is already running. The config file is read again only when it has changed.
 */
export function watchCaps({
  folders,
  profile,
  budgetDay,
  budgetMonth,
}: Pick<RunSettings, 'folders' | 'profile' | 'budgetDay' | 'budgetMonth'>): () => Caps | undefined {
  const path = folders.config && join(folders.config, 'config.json');
  const look = () => {
    const stats = path === undefined ? undefined : statsOf(path);
    return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  };
  let caps = capsOf(budgetDay, budgetMonth);
  let seen = look();
  return () => {
    const now = look();
    if (now === seen) return caps;
    try {
      const saved = profileOf(openConfig(folders).read(), profile);
      const amount = (name: 'budgetDay' | 'budgetMonth') =>
        saved?.[name] === undefined ? undefined : readSetting(name, saved[name], name);
      caps = capsOf(amount('budgetDay'), amount('budgetMonth'));
      seen = now;
    } catch (error) {
      // If the file cannot be read, the last known budgets apply.
      if (!(error instanceof Failure)) throw error;
    }
    return caps;
  };
}
