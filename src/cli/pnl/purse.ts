import type { Client } from '../../core/ports.ts';
import { createPurse, type Purse } from '../../core/purse.ts';
import type { Context } from '../context.ts';
import { noticeText } from '../notices.ts';

/** The purse of a run: held to its ceiling, its waits told on stderr. */
export const openPurse = ({ io, settings, say }: Context, client: Client): Purse =>
  createPurse({
    client,
    clock: io.clock,
    maxCu: settings.maxCu,
    notify: (notice) => say(noticeText(notice)),
  });
