/** Keeps each text once, however many records have it. */
export class DistinctTexts {
  readonly #texts = new Map<string, string>();

  of(text: string): string {
    const before = this.#texts.get(text);
    if (before !== undefined) return before;
    this.#texts.set(text, text);
    return text;
  }
}
