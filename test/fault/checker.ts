import { type Model, type Operation, table } from './history.ts';

export type Verdict = 'linearizable' | 'violation' | 'undecided';

/** Enough steps to decide every history of some dozens of operations. Beyond them the verdict is `undecided`. */
const maxSteps = 2_000_000;

/**
 * Whether one object's history is linearizable: whether each operation can have taken effect at one instant between its
 * beginning and its end, in an order that the model allows. It searches the orders (Wing and Gong), and visits each
 * pair of completed operations and resulting state only once (Lowe).
 */
export function check<State>(model: Model<State>, history: readonly Operation[], steps = maxSteps): Verdict {
  const operations = [...history].sort((one, other) => one.invokedAt - other.invokedAt);
  const seen = new Set<string>();
  const isAnswered = operations.map(({ outcome }) => outcome !== 'unknown');
  const all = isAnswered.reduce((mask, answered, i) => (answered ? mask | (1n << BigInt(i)) : mask), 0n);
  const stack: [done: bigint, state: State][] = [[0n, model.initial]];
  for (let next = stack.pop(), left = steps; next; next = stack.pop()) {
    const [done, state] = next;
    if ((done & all) === all) return 'linearizable';
    if (left-- === 0) return 'undecided';
    // An operation that began after another had ended comes after it.
    let until = Number.POSITIVE_INFINITY;
    for (const [i, { invokedAt, respondedAt }] of operations.entries()) {
      if (invokedAt > until) break;
      if ((done & (1n << BigInt(i))) === 0n) until = Math.min(until, respondedAt);
    }
    for (const [i, operation] of operations.entries()) {
      if (operation.invokedAt > until) break;
      const bit = 1n << BigInt(i);
      if ((done & bit) !== 0n) continue;
      for (const after of model.step(state, operation)) {
        const key = `${done | bit} ${model.key(after)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        stack.push([done | bit, after]);
      }
    }
  }
  return 'violation';
}

/** The history as it was known at a moment: operations not answered by then are unknown, later ones are left out. */
function until(history: readonly Operation[], moment: number): Operation[] {
  return history
    .filter(({ invokedAt }) => invokedAt <= moment)
    .map((operation) =>
      operation.respondedAt <= moment
        ? operation
        : { ...operation, respondedAt: Number.POSITIVE_INFINITY, outcome: 'unknown' as const, value: {} },
    );
}

/** The shortest beginning of a history that is already a violation: its last answer is the impossible one. */
export function shortest<State>(model: Model<State>, history: readonly Operation[]): readonly Operation[] {
  const moments = history.filter(({ outcome }) => outcome !== 'unknown').map(({ respondedAt }) => respondedAt);
  for (const moment of moments.sort((one, other) => one - other)) {
    const beginning = until(history, moment);
    if (check(model, beginning) === 'violation') return beginning;
  }
  return history;
}

/** The results of `check` for many objects. */
export interface Findings {
  objects: number;
  operations: number;
  undecided: number;
  /** The first violation of each kind, to read. */
  readonly violations: string[];
}

/** Checks every object with its own model. */
export function checkAll<State>(
  objects: ReadonlyMap<string, readonly Operation[]>,
  modelOf: (object: string) => Model<State>,
): Findings {
  const findings: Findings = { objects: objects.size, operations: 0, undecided: 0, violations: [] };
  for (const [object, history] of objects) {
    const model = modelOf(object);
    const verdict = check(model, history);
    findings.operations += history.length;
    if (verdict === 'undecided') findings.undecided++;
    if (verdict === 'violation')
      findings.violations.push(`${object} is not linearizable:\n${table(shortest(model, history))}`);
  }
  return findings;
}
