/** Records each batch and its answers, so that nothing is paid twice after a crash. */
export interface BatchLog {
  asking(batch: {
    readonly positions: readonly number[];
    readonly unitsUsed: number | null;
  }): Promise<number>;
  answered(
    batch: number,
    answer: {
      readonly rows: readonly { readonly position: number; readonly value: unknown }[];
      readonly cu: number;
      readonly requestId?: string | undefined;
    },
  ): Promise<void>;
  dropped(batch: number): Promise<void>;
  /** Records answers that another machine requested. */
  found(rows: readonly { readonly position: number; readonly value: unknown }[]): Promise<void>;
  /** Records that the answer of a batch was lost. `answer` is a response that could not be read. */
  lost(batch: number, cuAtMost: number, answer?: string): Promise<void>;
}
