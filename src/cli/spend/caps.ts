import { join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { unitsText } from '../../base/units.ts';
import { profileOf, readConfig } from '../../state/config/config.ts';
import { readSetting } from '../../state/config/settings-table.ts';
import type { Caps } from '../../state/ledger/budget.ts';
import type { RunSettings } from '../settings/settings.ts';

/**
 * Returns a function that returns the present budgets of the profile, so that "trdr budget set" and "trdr budget
 * unset" also apply to a tail that is already running. The config file is read again only when it has changed. Only
 * a file that contains the profile changes a budget: if the file is deleted, emptied or damaged, the budgets that the
 * run knows stay in force.
 */
export function watchCaps(
  {
    folders,
    profile,
    budgetDay,
    budgetMonth,
  }: Pick<RunSettings, 'folders' | 'profile' | 'budgetDay' | 'budgetMonth'>,
  notice: (text: string) => void,
): () => Caps | undefined {
  const path = folders.config && join(folders.config, 'config.json');
  const caps = { day: budgetDay, month: budgetMonth };
  let reported = '';
  const hasBudget = () => caps.day !== undefined || caps.month !== undefined;
  const look = () => {
    const stats = path === undefined ? undefined : statsOf(path);
    return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
  };

  const apply = () => {
    const saved = profileOf(readConfig(path), profile);
    if (saved === undefined)
      throw new Failure('local', `profile "${profile}" is no longer in ${path}`, { code: 'NO_PROFILE' });
    for (const [period, name] of [['day', 'budgetDay'] as const, ['month', 'budgetMonth'] as const]) {
      const limit = saved[name] === undefined ? undefined : readSetting(name, saved[name], name);
      if (limit === caps[period]) continue;
      caps[period] = limit;
      const change = limit === undefined ? 'was removed' : `is now ${unitsText(limit)}`;
      notice(`the ${period} budget of profile "${profile}" ${change}`);
    }
  };

  let seen = look();
  return () => {
    try {
      const now = look();
      if (now !== seen) apply();
      seen = now;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (hasBudget() && error.message !== reported)
        notice(`${error.message}; the budgets that this run knows still apply`);
      reported = error.message;
    }
    return hasBudget() ? caps : undefined;
  };
}
