/** How a tree of budgets behaves, by sums over all bookings: no running total that could drift. */

interface Spent {
  readonly at: number;
  readonly amount: bigint;
  readonly label: string | null;
}

export interface Held {
  readonly node: Node;
  readonly amount: bigint;
  /** When the rest is settled; null: never. */
  readonly settleAt: number | null;
  left: bigint;
}

/** An amount spent at a moment. */
interface Beyond {
  readonly at: number;
  readonly amount: bigint;
}

const sum = (parts: readonly bigint[]): bigint => parts.reduce((total, part) => total + part, 0n);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** One budget of a tree. */
export class Node {
  readonly parent: Node | null;
  readonly windowMs: number | null;
  limit: bigint;
  percents: number[];
  overdrawn = 0n;
  /** Announced in the window that begins at `announcedIn`. */
  announced = new Set<number>();
  announcedIn = 0;
  /** Spent within the reservations of this budget and of the budgets below it. */
  readonly spent: Beyond[] = [];
  /** Paid beyond reservations, and covered later. */
  readonly beyond: Beyond[] = [];
  readonly labelled: Spent[] = [];

  constructor(parent: Node | null, limit: bigint, windowMs: number | null, percents: number[]) {
    this.parent = parent;
    this.limit = limit;
    this.windowMs = windowMs;
    this.percents = percents;
  }

  get line(): Node[] {
    return [this, ...(this.parent?.line ?? [])];
  }

  startOf(now: number): number {
    return this.windowMs === null ? 0 : now - (now % this.windowMs);
  }
}

export class TreeModel {
  readonly nodes: Node[] = [];
  readonly held: Held[] = [];
  /** The budget's index and the percentage, in order. */
  readonly announcements: [node: number, percent: number][] = [];
  now = 0;

  add(parent: Node | null, limit: bigint, windowMs: number | null, percents: number[]): Node {
    const node = new Node(parent, limit, windowMs, percents);
    this.nodes.push(node);
    return node;
  }

  /**
   * Moves the clock. What is due on the way happens in order: windows begin, and pay what their budget is overdrawn by; then
   * the rest of overdue reservations is settled.
   */
  pass(to: number): void {
    for (;;) {
      const rolls = this.nodes.map((node) => node.startOf(this.now) + (node.windowMs ?? Number.POSITIVE_INFINITY));
      const late = this.held.filter(({ settleAt, left }) => settleAt !== null && left > 0n);
      const at = Math.min(...rolls, ...late.map(({ settleAt }) => settleAt ?? 0));
      if (at > to) break;
      this.now = at;
      for (const node of this.nodes) if (node.startOf(at) === at) this.#roll(node);
      for (const held of late) if (held.settleAt === at) this.settle(held, held.left, 'overdue');
    }
    this.now = to;
  }

  #roll(node: Node): void {
    const paid = least(node.overdrawn, node.limit - this.balances(node).reserved);
    if (paid === 0n) return;
    node.overdrawn -= paid;
    node.beyond.push({ at: this.now, amount: paid });
    node.labelled.push({ at: this.now, amount: paid, label: 'overdrawn' });
  }

  balances(node: Node) {
    const reserved = sum(this.held.filter((one) => one.node.line.includes(node)).map(({ left }) => left));
    const from = node.startOf(this.now);
    const booked = [...node.spent, ...node.beyond];
    const settled = sum(booked.filter(({ at }) => at >= from).map(({ amount }) => amount));
    const total = sum(booked.map(({ amount }) => amount));
    return { reserved, settled, total, available: node.limit - reserved - settled };
  }

  labels(node: Node): Record<string, string> {
    const sums = new Map<string, bigint>();
    const kept = new Set<string>();
    for (const { at, amount, label } of node.labelled) {
      if (at < node.startOf(this.now) || label === null) continue;
      if (kept.size < 50 && label !== 'other') kept.add(label);
      const name = kept.has(label) ? label : 'other';
      sums.set(name, (sums.get(name) ?? 0n) + amount);
    }
    return Object.fromEntries([...sums].map(([label, amount]) => [label, `${amount}`]));
  }

  #announce(node: Node): void {
    const from = node.startOf(this.now);
    if (node.announcedIn !== from) {
      node.announcedIn = from;
      node.announced.clear();
    }
    for (const percent of node.percents)
      if (this.#isReached(node, percent) && !node.announced.has(percent)) {
        node.announced.add(percent);
        this.announcements.push([this.nodes.indexOf(node), percent]);
      }
  }

  #isReached(node: Node, percent: number): boolean {
    const { reserved, settled } = this.balances(node);
    return reserved + settled > 0n && (reserved + settled) * 100n >= node.limit * BigInt(percent);
  }

  /** The budget that is short; undefined if none is. */
  shortOf(node: Node, amount: bigint): Node | undefined {
    return node.line.find((one) => one.overdrawn > 0n || amount > this.balances(one).available);
  }

  reserve(node: Node, amount: bigint, settleAt: number | null): void {
    this.held.push({ node, amount, settleAt, left: amount });
    for (const one of node.line) this.#announce(one);
  }

  /** Settles an amount, which may exceed the remainder; returns the amount that overdraws each level. */
  settle(held: Held, amount: bigint, label: string | null): bigint[] {
    const within = least(amount, held.left);
    const above = amount - within;
    held.left -= within;
    return held.node.line.map((node) => {
      node.spent.push({ at: this.now, amount: within });
      const paid = least(above, this.balances(node).available);
      node.beyond.push({ at: this.now, amount: paid });
      node.overdrawn += above - paid;
      if (amount > 0n) node.labelled.push({ at: this.now, amount, label });
      return above - paid;
    });
  }

  /** Changes the limit, the alerts or both; returns the status or an error code. */
  change(node: Node, limit: bigint | undefined, percents: number[] | undefined): string {
    const { reserved, settled } = this.balances(node);
    const covers = limit !== undefined && node.overdrawn > 0n && limit >= reserved + settled + node.overdrawn;
    const isOther = (limit !== undefined && limit !== node.limit) || (percents && `${percents}` !== `${node.percents}`);
    // A call that changes nothing announces nothing.
    if (!covers && !isOther) return '200';
    if (limit !== undefined && limit < reserved + settled) return 'LIMIT_BELOW_USE';
    const isRaised = limit !== undefined && limit > node.limit;
    if (limit !== undefined) {
      node.limit = limit;
      if (covers) {
        node.beyond.push({ at: this.now, amount: node.overdrawn });
        node.overdrawn = 0n;
      }
    }
    if (percents) node.percents = percents;
    for (const percent of [...node.announced])
      if (!node.percents.includes(percent) || (isRaised && !this.#isReached(node, percent)))
        node.announced.delete(percent);
    this.#announce(node);
    return '200';
  }
}
