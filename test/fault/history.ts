/** One call of one client as it saw it. Times are of one monotonic clock, in milliseconds. */
export interface Operation {
  readonly id: string;
  readonly client: number;
  readonly kind: string;
  /** What it was about: operations of different objects do not concern each other. */
  readonly object: string;
  readonly input: Readonly<Record<string, string | number>>;
  readonly invokedAt: number;
  /** Infinity where no answer came: it may have happened at any later moment, or not at all. */
  readonly respondedAt: number;
  readonly outcome: 'ok' | 'refused' | 'unknown';
  /** What the answer said, or the code of the refusal as `code`. */
  readonly value: Readonly<Record<string, string | number>>;
}

/** An object as it is specified, one step after the other. */
export interface Model<State> {
  readonly initial: State;
  /** Equal for equal states. */
  key(state: State): string;
  /**
   * The states in which the object may be after the operation, none where it cannot have gone so. An unknown
   * operation is asked for only as one that happened.
   */
  step(state: State, operation: Operation): readonly State[];
}

/** The operations of each object. */
export function byObject(history: readonly Operation[]): Map<string, Operation[]> {
  const objects = new Map<string, Operation[]>();
  for (const operation of history) {
    const ofObject = objects.get(operation.object) ?? [];
    ofObject.push(operation);
    objects.set(operation.object, ofObject);
  }
  return objects;
}

/** A history to read: one line per operation, in the order of their beginnings. */
export function table(history: readonly Operation[]): string {
  const sorted = [...history].sort((one, other) => one.invokedAt - other.invokedAt);
  const from = sorted[0]?.invokedAt ?? 0;
  const at = (moment: number): string => (moment === Number.POSITIVE_INFINITY ? '…' : (moment - from).toFixed(1));
  const text = (values: object): string => JSON.stringify(values).replaceAll('"', '');
  return sorted
    .map(
      ({ client, kind, input, invokedAt, respondedAt, outcome, value }) =>
        `  [${at(invokedAt)} … ${at(respondedAt)}] client ${client}: ${kind} ${text(input)} -> ${outcome} ${text(value)}`,
    )
    .join('\n');
}
