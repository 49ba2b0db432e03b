export const policies = ['CANCEL', 'WAIT', 'RUN'] as const;

/** A message, and its prerequisites. */
export interface Item {
  readonly id: string;
  readonly policy: (typeof policies)[number];
  readonly after: readonly Item[];
  /** The prerequisites that it still waits for. */
  open: Set<Item>;
  state: 'READY' | 'BLOCKED' | 'CLAIMED' | 'ACKED' | 'REJECTED' | 'CANCELLED';
  reason: string | null;
  /** The moment it became ready. */
  since: number;
  token: string;
}

const hasEnded = ({ state }: Item): boolean => ['ACKED', 'REJECTED', 'CANCELLED'].includes(state);

/** Messages that wait for one another. */
export class AfterModel {
  readonly items: Item[] = [];

  /** The open prerequisites of a send or a requeue; undefined if it is refused. */
  judge(after: readonly Item[], policy: Item['policy']): Set<Item> | undefined {
    const failed = after.filter((one) => hasEnded(one) && one.state !== 'ACKED');
    if (policy === 'CANCEL' && failed.length > 0) return undefined;
    return new Set(after.filter((one) => !hasEnded(one) || (policy === 'WAIT' && one.state !== 'ACKED')));
  }

  add(id: string, after: readonly Item[], policy: Item['policy'], open: Set<Item>, now: number): void {
    const state = open.size > 0 ? 'BLOCKED' : 'READY';
    this.items.push({ id, policy, after, open, state, reason: null, since: now, token: '' });
  }

  /** READY messages that may be received next: the ones that have been ready for longest. */
  next(): Item[] {
    const ready = this.items.filter(({ state }) => state === 'READY');
    const first = Math.min(...ready.map(({ since }) => since));
    return ready.filter(({ since }) => since === first);
  }

  end(item: Item, state: 'ACKED' | 'REJECTED' | 'CANCELLED', reason: string | null, now: number): void {
    Object.assign(item, { state, reason });
    for (const other of this.items) {
      if (other.state !== 'BLOCKED' || !other.open.has(item)) continue;
      if (state !== 'ACKED' && other.policy === 'WAIT') continue;
      other.open.delete(item);
      if (state !== 'ACKED' && other.policy === 'CANCEL') this.end(other, 'CANCELLED', 'PREREQUISITE_FAILED', now);
      else if (other.open.size === 0) Object.assign(other, { state: 'READY', since: now });
    }
  }

  /** Returns `200` or an error code. */
  requeue(item: Item, now: number): string {
    if (!['REJECTED', 'CANCELLED'].includes(item.state)) return 'MESSAGE_NOT_REQUEUABLE';
    const open = this.judge(item.after, item.policy);
    if (!open) return 'PREREQUISITE_FAILED';
    Object.assign(item, { open, reason: null, since: now, token: '', state: open.size > 0 ? 'BLOCKED' : 'READY' });
    return '200';
  }
}
