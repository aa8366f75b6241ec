import type { Settings } from '../settings/settings.ts';
import type { Bill } from './bill.ts';
import type { Out } from './out.ts';
import type { Service } from './service.ts';
import type { Terminal } from './terminal.ts';

/**
 * What a command works with. Only commands, and the builders of their runs, take it whole:
 * everything else takes the values that it needs.
 */
export interface Context {
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly service: Service;
  readonly out: Out;
  readonly bill: Bill;
}
