import { isRecord, plainJson } from '../../base/json-object.ts';
import { Confluence, type ConfluenceFields, type ConfluenceRule } from '../confluence.ts';
import { Cooldown, type CooldownRule } from '../cooldown.ts';
import type { OutputStages } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

/** What a run prints in place of all posts. */
export interface StageRules {
  readonly confluence?: ConfluenceRule | undefined;
  readonly cooldown?: CooldownRule | undefined;
  /** How many records are printed. */
  readonly count?: number | undefined;
}

/** What the stages of a run begin with. */
export interface StageStart {
  /** The fields that decide about confluences. */
  readonly fields: ConfluenceFields;
  /** What an earlier run has saved. */
  readonly state?: string | undefined;
  /** Up to which post time the feed is verified. */
  readonly verified?: (() => number | null) | undefined;
}

/** The stages of a run: confluences first, then a cooldown. Undefined without any. */
export function stagesOf(
  { confluence, cooldown, count }: StageRules,
  { fields, state, verified }: StageStart,
): OutputStages | undefined {
  if (!confluence && !cooldown) return undefined;
  const saved = statesIn(state);
  return new Stages(
    confluence && new Confluence(confluence, fields, saved.confluence, verified),
    cooldown && new Cooldown(cooldown, saved.cooldown, verified),
    count,
  );
}

class Stages implements OutputStages {
  left: number;
  passed = 0;
  readonly #confluence: Confluence | undefined;
  readonly #cooldown: Cooldown | undefined;

  constructor(
    confluence: Confluence | undefined,
    cooldown: Cooldown | undefined,
    count = Number.POSITIVE_INFINITY,
  ) {
    this.#confluence = confluence;
    this.#cooldown = cooldown;
    this.left = count;
  }

  pass(posts: readonly TailRow[]): readonly TailRow[] {
    const records = posts.flatMap((post) => this.#recordOf(post) ?? []);
    this.left -= records.length;
    this.passed += records.length;
    return records;
  }

  get held(): number {
    return this.#cooldown?.held ?? 0;
  }

  state(): string {
    const confluence = this.#confluence?.state;
    if (!this.#cooldown && confluence !== undefined) return confluence;
    return JSON.stringify({ cooldown: this.#cooldown?.state, confluence });
  }

  #recordOf(post: TailRow): TailRow | undefined {
    const record = this.#confluence ? this.#confluence.add(post) : post;
    return record && this.#cooldown ? this.#cooldown.add(record) : record;
  }
}

/** The states of the stages; that of confluences alone is not an object. */
function statesIn(text: string | undefined): {
  readonly confluence?: string | undefined;
  readonly cooldown?: unknown;
} {
  const saved = text === undefined ? undefined : plainJson(text);
  if (!isRecord(saved)) return { confluence: text };
  const { cooldown, confluence } = saved;
  return { cooldown, confluence: typeof confluence === 'string' ? confluence : undefined };
}
