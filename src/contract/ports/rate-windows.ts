/** Permission to send a call now (`waitMs` is 0), or how long to wait before asking again. */
export interface WindowSlot {
  readonly waitMs: number;
  /** The limit per minute that an earlier response stated. */
  readonly statedLimit: number | null;
  /**
   * True if the call waits only for calls ahead of it in the queue. Such a wait always ends, so
   * callers accept it however long it is.
   */
  readonly queued?: boolean;
}

/**
 * Counts calls for all trdr processes of a machine, or for all machines of a store. A lane is the
 * calls that share one rate limit; a ticket, which is unique within the process, is the place of
 * one call in its queue.
 */
export interface RateWindows {
  /**
   * Asks for permission to send one call in a lane that allows `limit` calls a minute. The first
   * time with a ticket adds it to the queue. After a wait, the caller asks again with the same
   * ticket.
   */
  take(lane: string, limit: number, ticket?: number): Promise<WindowSlot>;
  /** Removes a ticket from the queue. */
  drop(lane: string, ticket: number): Promise<void>;
  /**
   * Counts a permitted call as leaving now, `lateMs` after its permission, because it then waited
   * for another lane. Returns false if the permission has expired.
   */
  depart(lane: string, ticket: number, lateMs: number): Promise<boolean>;
  /** Blocks a lane after a 429. */
  block(lane: string, ms: number): Promise<void>;
  /** Saves the limit that a response stated. */
  learn(lane: string, limit: number): Promise<void>;
}
