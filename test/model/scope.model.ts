/** A message of a run, from a receiver's point of view. */
export interface Item {
  readonly id: string;
  /** The scope it was sent to: 0 is a root, 1 is below 0, 2 is below 1, 3 is another root. */
  readonly scope: number;
  state: 'READY' | 'DELAYED' | 'CLAIMED' | 'ACKED' | 'CANCELLED';
  token: string;
  /** The moment it became or becomes ready. */
  since: number;
  leaseEndsAt: number;
}

/** Each scope's ancestors, itself included. */
export const paths: readonly (readonly number[])[] = [[0], [0, 1], [0, 1, 2], [3]];

/** Four scopes with messages and barriers, and the numbers of both that each cancel has ended. */
export class ScopeModel {
  readonly items: Item[] = [];
  readonly barriers: { id: string; scope: number; state: string }[] = [];
  readonly used = new Set<number>();
  /** Cancelled scopes, with the numbers of messages and barriers that each cancel has ended. */
  readonly cancels = new Map<number, { messages: number; barriers: number }>();
  /** Runs in the order in which a receive across all serves them; unknown before the first one. */
  #turns: number[] | undefined;

  isCancelled(scope: number): boolean {
    return paths[scope]?.some((one) => this.cancels.has(one)) ?? false;
  }

  use(scope: number): void {
    for (const one of paths[scope] ?? []) this.used.add(one);
  }

  below(scope: number): number[] {
    return paths.flatMap((path, one) => (path.includes(scope) ? [one] : []));
  }

  live(scope: number): number {
    return this.items.filter((one) => this.below(scope).includes(one.scope) && isLive(one)).length;
  }

  /** Makes a message ready; its run joins the back if it had no other. */
  ready(item: Item, since: number): void {
    Object.assign(item, { state: 'READY', token: '', since });
    if (!this.#turns?.includes(runOf(item))) this.#turns?.push(runOf(item));
  }

  /** Ends leases that are over. */
  pass(now: number): void {
    const lapsed = this.items.filter((one) => one.state === 'CLAIMED' && one.leaseEndsAt <= now);
    for (const one of lapsed.toSorted((a, b) => a.leaseEndsAt - b.leaseEndsAt)) this.ready(one, one.leaseEndsAt);
  }

  /** Makes due messages ready, as a receive does. */
  ripen(now: number): void {
    const due = this.items.filter((one) => one.state === 'DELAYED' && one.since <= now);
    for (const one of due.toSorted((a, b) => a.since - b.since)) this.ready(one, one.since);
  }

  /**
   * The messages that a receive across all runs may get: the oldest of the run in turn, or of any run before the first
   * turn.
   */
  nextOfAll(): Item[] {
    const runs =
      this.#turns?.slice(0, 1) ?? paths.flatMap(([root, ...below]) => (below.length === 0 ? [root as number] : []));
    return runs.flatMap((run) => this.next(run) ?? []);
  }

  /** Moves the run of a received message to the back. */
  served(item: Item): void {
    const others = paths.flatMap(([root, ...below]) =>
      below.length === 0 && root !== runOf(item) ? [root as number] : [],
    );
    this.#turns = [...(this.#turns?.filter((run) => run !== runOf(item)) ?? others), runOf(item)];
  }

  /** Removes runs without ready messages from the turns. */
  tidy(): void {
    this.#turns = this.#turns?.filter((run) => this.next(run));
  }

  /** The oldest ready message in the subtree. */
  next(scope: number): Item | undefined {
    const below = this.below(scope);
    return this.items
      .filter((one) => one.state === 'READY' && below.includes(one.scope))
      .toSorted((a, b) => a.since - b.since)[0];
  }

  cancel(scope: number): void {
    const ended = { messages: 0, barriers: 0 };
    const below = this.below(scope);
    for (const one of this.items)
      if (isLive(one) && below.includes(one.scope)) {
        one.state = 'CANCELLED';
        ended.messages++;
      }
    for (const one of this.barriers)
      if (one.state === 'OPEN' && below.includes(one.scope)) {
        one.state = 'CANCELLED';
        ended.barriers++;
      }
    if (!this.isCancelled(scope)) this.cancels.set(scope, ended);
  }

  state(scope: number): string {
    if (this.isCancelled(scope)) return 'CANCELLED';
    return this.live(scope) > 0 ? 'ACTIVE' : 'IDLE';
  }
}

const isLive = ({ state }: Item): boolean => ['READY', 'DELAYED', 'CLAIMED'].includes(state);
const runOf = ({ scope }: Item): number => paths[scope]?.[0] ?? 0;
