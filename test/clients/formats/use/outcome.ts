/** The space that a generated client uses. */
export interface Access {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly runId: string;
}

export interface Outcome {
  readonly sent: string | undefined;
  readonly received: unknown;
  readonly completed: string | undefined;
  readonly settledMinor: string | undefined;
  /** The code of a refusal. */
  readonly refused: string | undefined;
}
