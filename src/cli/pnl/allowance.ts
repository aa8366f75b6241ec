import type { Client } from '../../contract/ports.ts';
import { type Allowance, createAllowance } from '../../core/pnl/allowance.ts';
import type { Context } from '../context.ts';
import { noticeText } from '../output/client-notice-text.ts';

/** Creates the allowance of a run, within its spending limit. Long waits are reported on stderr. */
export const openAllowance = ({ io, settings, notice }: Context, client: Client): Allowance =>
  createAllowance({
    client,
    clock: io.clock,
    maxCu: settings.maxCu,
    notify: (event) => notice(noticeText(event)),
  });
