/** One call of one client as it saw it. Times are of one monotonic clock, in milliseconds. */
export interface Operation {
  readonly id: string;
  readonly client: number;
  readonly kind: string;
  /** The object that it was about: operations on different objects are independent. */
  readonly object: string;
  readonly input: Readonly<Record<string, string | number>>;
  readonly invokedAt: number;
  /** Infinity if no answer came: it may have taken effect at any later moment, or not at all. */
  readonly respondedAt: number;
  readonly outcome: 'ok' | 'refused' | 'unknown';
  /** Members of the answer, or the code of the refusal as `code`. */
  readonly value: Readonly<Record<string, string | number>>;
  /**
   * For a call of an atomic batch, whose calls share an id: its place, and the place of the call that made the batch
   * refused.
   */
  readonly place?: number;
  readonly refusedAt?: number;
  /** For an atomic batch as one operation: its calls in order. */
  readonly parts?: readonly Operation[];
}

/** The sequential specification of an object. */
export interface Model<State> {
  readonly initial: State;
  /** Equal for equal states. */
  key(state: State): string;
  /**
   * The possible states after the operation; none if its outcome is impossible in this state. An operation of unknown
   * outcome is passed only as one that took effect.
   */
  step(state: State, operation: Operation): readonly State[];
}

/**
 * An object that consists of others. The calls of an atomic batch take effect at one instant, in order; if one of them
 * is refused, none does.
 */
export function composed(modelOf: (object: string) => Model<unknown>): Model<ReadonlyMap<string, unknown>> {
  type State = ReadonlyMap<string, unknown>;
  const part = (state: State, operation: Operation): State[] => {
    const { object } = operation;
    const model = modelOf(object);
    const before = state.has(object) ? state.get(object) : model.initial;
    return model.step(before, operation).map((after) => new Map(state).set(object, after));
  };
  const happened = (state: State, parts: readonly Operation[]): State[] =>
    parts.reduce((states: State[], one) => states.flatMap((before) => part(before, one)), [state]);
  return {
    initial: new Map(),
    key: (state) =>
      [...state]
        .map(([object, one]) => `${object} ${modelOf(object).key(one)}`)
        .sort()
        .join('; '),
    step: (state, operation) => {
      const { parts, outcome } = operation;
      if (!parts) return part(state, operation);
      if (outcome !== 'refused') return happened(state, parts);
      const refusedAt = parts[0]?.refusedAt ?? 0;
      // The calls before it would have succeeded; their answers are unknown.
      const before = parts.slice(0, refusedAt).map((one) => ({ ...one, outcome: 'unknown' as const, value: {} }));
      const isRefused = happened(state, [...before, ...parts.slice(refusedAt, refusedAt + 1)]).length > 0;
      return isRefused ? [state] : [];
    },
  };
}

/** The operations on objects that occur in atomic batches. Objects tied together by a batch count as one. */
export function tied(history: readonly Operation[]): Map<string, Operation[]> {
  const batches = new Map<string, Operation[]>();
  for (const one of history) if (one.place !== undefined) batches.set(one.id, [...(batches.get(one.id) ?? []), one]);
  const roots = new Map<string, string>();
  const rootOf = (object: string): string => {
    const root = roots.get(object);
    return root === undefined || root === object ? object : rootOf(root);
  };
  for (const parts of batches.values())
    for (const { object } of parts) roots.set(rootOf(object), rootOf(parts[0]?.object ?? object));
  const single = history.filter(({ object, place }) => place === undefined && roots.has(object));
  const whole = [...batches.values()].flatMap((all): Operation[] => {
    const parts = all.toSorted((a, b) => Number(a.place) - Number(b.place));
    const answered = parts.find(({ outcome }) => outcome !== 'unknown') ?? parts[0];
    return answered ? [{ ...answered, kind: 'atomic', input: {}, value: {}, parts }] : [];
  });
  return byObject(
    [...single, ...whole].map((one) => ({ ...one, under: rootOf(one.object) })),
    ({ under }) => under,
  );
}

/** The operations of each object. */
export function byObject<One extends Operation>(
  history: readonly One[],
  objectOf: (one: One) => string = ({ object }) => object,
): Map<string, One[]> {
  const objects = new Map<string, One[]>();
  for (const operation of history) {
    const object = objectOf(operation);
    const ofObject = objects.get(object) ?? [];
    ofObject.push(operation);
    objects.set(object, ofObject);
  }
  return objects;
}

/** Formats a history: one line per operation, in the order of their beginnings. */
export function table(history: readonly Operation[]): string {
  const sorted = [...history].sort((one, other) => one.invokedAt - other.invokedAt);
  const from = sorted[0]?.invokedAt ?? 0;
  const at = (moment: number): string => (moment === Number.POSITIVE_INFINITY ? '…' : (moment - from).toFixed(1));
  const text = (values: object): string => JSON.stringify(values).replaceAll('"', '');
  const said = ({ kind, input, outcome, value }: Operation): string =>
    `${kind} ${text(input)} -> ${outcome} ${text(value)}`;
  return sorted
    .map((one) => {
      const { client, invokedAt, respondedAt, parts = [one] } = one;
      return `  [${at(invokedAt)} … ${at(respondedAt)}] client ${client}: ${parts.map(said).join('; ')}`;
    })
    .join('\n');
}
