export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /**
   * The longest wait for the response to begin, and for each further part of it. The whole request
   * may take `LONGEST_RESPONSE` times as long.
   */
  readonly timeoutMs: number;
  /** Once this signal is aborted, the response must be complete within `timeoutMs`. */
  readonly ending?: AbortSignal | undefined;
  /**
   * Whether to open a new connection. The server may close an idle connection at any moment; a
   * request that is sent at that moment counts as lost, and may have been charged.
   */
  readonly isFresh?: boolean | undefined;
  /**
   * Called right before the request is written. From then on, the service may process and charge
   * it.
   */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** The names are lower-cased. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Sends HTTP requests. Without a complete response, it throws a `network` Failure whose `code`
 * states whether the service may have received and charged the request: `UNREACHABLE` (impossible),
 * `BROKEN` and `NO_ANSWER` (possible).
 */
export interface Transport {
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}
