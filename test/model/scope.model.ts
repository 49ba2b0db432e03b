/** A message of a run, as its receivers see it. */
export interface Item {
  readonly id: string;
  /** The scope that it was sent to: 0 is the root, 1 lies below it, 2 below that one, 3 is a run of its own. */
  readonly scope: number;
  state: 'READY' | 'CLAIMED' | 'ACKED' | 'CANCELLED';
  token: string;
  since: number;
  leaseEndsAt: number;
}

/** The scopes above each, itself included. */
export const paths: readonly (readonly number[])[] = [[0], [0, 1], [0, 1, 2], [3]];

/** Four scopes with messages and barriers, and what their cancels have ended. */
export class ScopeModel {
  readonly items: Item[] = [];
  readonly barriers: { id: string; scope: number; state: string }[] = [];
  readonly used = new Set<number>();
  /** Named scopes, with what each cancel has ended. */
  readonly cancels = new Map<number, { messages: number; barriers: number }>();

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

  /** What has happened by itself: leases end. */
  pass(now: number): void {
    for (const one of this.items)
      if (one.state === 'CLAIMED' && one.leaseEndsAt <= now)
        Object.assign(one, { state: 'READY', token: '', since: one.leaseEndsAt });
  }

  /** The oldest that is ready in the subtree. */
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

const isLive = ({ state }: Item): boolean => state === 'READY' || state === 'CLAIMED';
