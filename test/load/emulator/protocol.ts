/** Messages between a thread that runs a script and the thread that measures. */
export type Tags = Readonly<Record<string, string>>;

export interface Sample {
  readonly metric: string;
  readonly kind: 'counter' | 'rate' | 'trend';
  readonly value: number;
  readonly tags: Tags;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly durationMs: number;
}

/** A phase of a script; `exec` is the exported function that a VU repeats for `durationMs`. */
export type Phase =
  | { readonly name: 'options' | 'setup' | 'teardown' | 'handleSummary'; readonly data?: unknown }
  | { readonly name: 'iterate'; readonly exec: string; readonly data: unknown; readonly durationMs: number };

/** Passed to each thread: `signal` wakes it when the answer to its request is at `port`. */
export interface ThreadData {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: Int32Array;
}

export type FromThread =
  | { readonly request: Request }
  | { readonly sample: Sample }
  | { readonly said: string }
  | { readonly done: unknown }
  | { readonly failed: string };
