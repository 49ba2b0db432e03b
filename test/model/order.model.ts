export const policies = ['CANCEL', 'WAIT', 'RUN'] as const;
export const ends = ['ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
export type End = (typeof ends)[number];

/** The fields of a send. `after`: other messages; moments are epoch milliseconds. */
export interface Sent {
  readonly run: number;
  readonly priority: number;
  readonly key: string | undefined;
  readonly after: readonly Item[];
  readonly policy: (typeof policies)[number];
  readonly maxAttempts: number;
  readonly deadline: number | undefined;
  readonly requires?: readonly Need[] | undefined;
}

/** Units of the pool or allowance with this id. */
export interface Need {
  readonly id: string;
  readonly units: number;
}

export class Item {
  readonly id: string;
  readonly of: Sent;
  /** The scope of its run. A run that is cancelled gets a new scope. */
  readonly scope: string;
  state: 'READY' | 'DELAYED' | 'BLOCKED' | 'CLAIMED' | End = 'READY';
  deadline: number | undefined;
  attempts = 0;
  token = '';
  /** The messages in `after` that it still waits for. */
  open = new Set<Item>();
  /** READY, or BLOCKED by its key: since when. DELAYED, or BLOCKED by others: until when. CLAIMED: the end of its lease. */
  at = 0;
  /** Its turn among messages that wait for the same prerequisite: the order of sends and requeues. */
  turn = 0;
  /** Whether it is one of the active messages of its key. */
  isActive = false;

  constructor(id: string, of: Sent, scope: string) {
    this.id = id;
    this.of = of;
    this.scope = scope;
    this.deadline = of.deadline;
  }

  get isLive(): boolean {
    return !(ends as readonly string[]).includes(this.state);
  }

  get waitsForKey(): boolean {
    return this.state === 'BLOCKED' && this.open.size === 0 && !this.isActive;
  }
}

/** Something that happens at its moment. */
export interface Happening {
  readonly at: number;
  readonly happen: () => void;
}

const byId = (one: Item, other: Item): number => (one.id < other.id ? -1 : 1);
/** Dependents in the order in which an end visits them: the ones that only a success frees come last. */
const inTurn = (one: Item, other: Item): number =>
  Number(one.of.policy === 'WAIT') - Number(other.of.policy === 'WAIT') || one.turn - other.turn;
const inTime = (one: Item, other: Item): number => one.at - other.at || byId(one, other);

/** The messages of a mailbox, in the order in which they are worked: everything happens at its moment. */
export class OrderModel {
  readonly items: Item[] = [];
  readonly pausedScopes = new Set<string>();
  readonly cancelledScopes = new Set<string>();
  readonly retryDelaySeconds: number;
  isPaused = false;
  perKey: number | null;
  #turns = 0;

  constructor(perKey: number | null, retryDelaySeconds: number) {
    this.perKey = perKey;
    this.retryDelaySeconds = retryDelaySeconds;
  }

  of(...states: Item['state'][]): Item[] {
    return this.items.filter(({ state }) => states.includes(state));
  }

  #active(key: string): Item[] {
    return this.items.filter((one) => one.of.key === key && one.isActive);
  }

  #waiting(key: string): Item[] {
    return this.items.filter((one) => one.of.key === key && one.waitsForKey).sort(inTime);
  }

  /** The active message of a key if only one may be active; null otherwise. */
  holderOf(key: string): string | null {
    return this.perKey === 1 ? (this.#active(key).sort(byId)[0]?.id ?? null) : null;
  }

  /** The open prerequisites; undefined if one that did not succeed refuses the message. */
  judge({ after, policy }: Sent): Set<Item> | undefined {
    const failed = after.filter((one) => !one.isLive && one.state !== 'ACKED');
    if (policy === 'CANCEL' && failed.length > 0) return undefined;
    return new Set(after.filter((one) => one.isLive || (policy === 'WAIT' && one.state !== 'ACKED')));
  }

  /** Starts a message, or restarts it. delayMs: the caller's own. */
  begin(item: Item, open: Set<Item>, delayMs: number, now: number): void {
    if (!this.items.includes(item)) this.items.push(item);
    Object.assign(item, { open, attempts: 0, token: '', turn: this.#turns++ });
    if (open.size > 0) Object.assign(item, { state: 'BLOCKED', at: now + delayMs });
    else this.#proceed(item, now + delayMs, now);
  }

  /** Continues with a message that only a delay and its key can still hold up. */
  #proceed(item: Item, readyAt: number, at: number): void {
    const { key } = item.of;
    if (readyAt > at) {
      Object.assign(item, { state: 'DELAYED', at: readyAt });
      return;
    }
    if (key !== undefined && !item.isActive) {
      const isFull = this.#active(key).length >= (this.perKey ?? Number.POSITIVE_INFINITY);
      if (isFull || this.#waiting(key).some((other) => other !== item)) {
        Object.assign(item, { state: 'BLOCKED', at });
        return;
      }
      item.isActive = true;
    }
    Object.assign(item, { state: 'READY', at });
  }

  #free(key: string, limit: number, at: number): void {
    for (let freed = 0; freed < limit; freed++) {
      const [next] = this.#waiting(key);
      if (!next || this.#active(key).length >= (this.perKey ?? Number.POSITIVE_INFINITY)) return;
      Object.assign(next, { state: 'READY', isActive: true, at: Math.max(at, next.at) });
    }
  }

  setPerKey(perKey: number | null, now: number): void {
    this.perKey = perKey;
    const keys = new Set(this.items.flatMap(({ of }) => of.key ?? []));
    for (const key of keys) this.#free(key, Number.POSITIVE_INFINITY, now);
  }

  /** Frees for others whatever an item held in its state `from`. Subclasses override it. */
  protected passOn(_item: Item, _from: Item['state']): void {}

  end(item: Item, state: End, at: number): void {
    const { key } = item.of;
    const from = item.state;
    const wasWaiting = from === 'BLOCKED' && !item.isActive;
    Object.assign(item, { state, isActive: false });
    this.passOn(item, from);
    if (key !== undefined && !wasWaiting) this.#free(key, 1, at);
    for (const other of this.items.filter(({ open }) => open.has(item)).sort(inTurn)) {
      if (other.state !== 'BLOCKED') continue;
      if (state !== 'ACKED' && other.of.policy === 'WAIT') continue;
      other.open.delete(item);
      if (state !== 'ACKED' && other.of.policy === 'CANCEL') this.end(other, 'CANCELLED', at);
      else if (other.open.size === 0) this.#proceed(other, other.at, at);
    }
  }

  /** Gives a claimed message back at `at`. delayMs undefined: the pause of the mailbox. */
  giveBack(item: Item, delayMs: number | undefined, at: number): void {
    const pause = this.retryDelaySeconds * 1000 * 2 ** (item.attempts - 1);
    this.#proceed(item, at + (delayMs ?? pause), at);
  }

  /** The moment at which something happens next. */
  get nextAt(): number {
    return this.#next()?.at ?? Number.POSITIVE_INFINITY;
  }

  #next(): Happening | undefined {
    const due = this.items.flatMap((item): { at: number; item: Item; isDeadline: boolean }[] => [
      ...(item.isLive && item.deadline !== undefined ? [{ at: item.deadline, item, isDeadline: true }] : []),
      ...(item.state === 'CLAIMED' || item.state === 'DELAYED' ? [{ at: item.at, item, isDeadline: false }] : []),
    ]);
    const [first] = due.sort(
      (a, b) => a.at - b.at || Number(b.isDeadline) - Number(a.isDeadline) || byId(a.item, b.item),
    );
    if (!first) return undefined;
    const { item, at, isDeadline } = first;
    const happen = (): void => {
      if (isDeadline) this.end(item, 'EXPIRED', at);
      else if (item.state === 'DELAYED') this.#proceed(item, at, at);
      else if (item.attempts >= item.of.maxAttempts) this.end(item, 'FAILED', at);
      else this.giveBack(item, undefined, at);
    };
    return { at, happen };
  }

  /** Lets everything happen that was due by `now`, in order. */
  advance(now: number): void {
    for (;;) {
      const next = this.#next();
      if (!next || next.at > now) return;
      next.happen();
    }
  }

  /** The messages of a scope that may be received, in their order. */
  queue(scope: string): Item[] {
    if (this.isPaused || this.pausedScopes.has(scope)) return [];
    return this.inOrder(this.of('READY').filter((item) => item.scope === scope));
  }

  inOrder(items: readonly Item[]): Item[] {
    return items.toSorted((one, other) => other.of.priority - one.of.priority || inTime(one, other));
  }

  /** Cancels several, in this order. */
  cancelAll(items: readonly Item[], now: number): void {
    for (const item of items) if (item.isLive) this.end(item, 'CANCELLED', now);
  }
}
