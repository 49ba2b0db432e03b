export interface Task {
  readonly id: string;
  readonly messageId: string;
  readonly taskKey: string | null;
  deadline: number | null;
  state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED';
  reason: string | null;
  verdict: string | null;
  attempts: number;
  readonly maxAttempts: number;
  token: string;
  /** The moment it became or becomes ready; while claimed, the end of its lease. */
  since: number;
  /** The moment it was queued. */
  queuedAt: number;
  /** The error of the last nack that gave one. */
  lastError: string | null;
}

/** The pause after this many attempts, in a mailbox whose first pause is `firstSeconds`. */
const pauseMs = (firstSeconds: number, attempts: number): number =>
  firstSeconds === 0 ? 0 : 1000 * Math.min(longestPauseSeconds, firstSeconds * 2 ** (attempts - 1));
export const longestPauseSeconds = 5;

/** A group, and the queue of its members and other tasks. */
export class GroupModel {
  readonly tasks: Task[] = [];
  readonly members: Task[] = [];
  readonly queue: Task[] = [];
  state = 'OPEN';
  outcome: string | null = null;
  sealedAt: number | null = null;
  decidedAt: number | null = null;
  readonly condition: string;
  readonly needed: number;
  readonly deadline: number | null;
  /** The mailbox's retryDelaySeconds. */
  readonly pauseSeconds: number;

  constructor(condition: string, needed: number, deadline: number | null, pauseSeconds: number) {
    this.condition = condition;
    this.needed = needed;
    this.deadline = deadline;
    this.pauseSeconds = pauseSeconds;
  }

  /** Queued tasks in the order in which they are ready. */
  inOrder(): Task[] {
    return this.queue.toSorted((a, b) => a.since - b.since);
  }

  count = (is: (member: Task) => boolean): number => this.members.filter(is).length;

  decide(outcome: string, at: number): void {
    Object.assign(this, { state: 'DECIDED', outcome, decidedAt: at });
    for (const task of this.members) if (task.state === 'PENDING') this.finish(task, 'CANCELLED', 'GROUP_DECIDED', at);
  }

  evaluate(at: number): void {
    const alive = this.count(({ state }) => state === 'PENDING' || state === 'RUNNING');
    const unjudged = this.count(({ state, verdict }) => state === 'SUCCEEDED' && verdict === null);
    const accepted = this.count(({ verdict }) => verdict === 'ACCEPTED');
    const all = this.condition === 'ALL_TERMINAL';
    const sealed = this.state === 'SEALED';
    if (this.state === 'DECIDED') return;
    if (all ? sealed && alive === 0 : accepted >= this.needed) this.decide('SATISFIED', at);
    else if (!all && sealed && accepted + alive + unjudged < this.needed) this.decide('UNSATISFIABLE', at);
  }

  finish(task: Task, state: Task['state'], reason: string | null, at: number): void {
    Object.assign(task, { state, reason });
    if (this.queue.includes(task)) this.queue.splice(this.queue.indexOf(task), 1);
    if (this.members.includes(task)) this.evaluate(at);
  }

  /** Returns `200` or an error code. */
  cancel(task: Task, at: number): string {
    if (task.state === 'PENDING' || task.state === 'RUNNING') this.finish(task, 'CANCELLED', 'CANCELLED_BY_CALLER', at);
    return task.state === 'CANCELLED' ? '200' : 'MESSAGE_FINISHED';
  }

  /** Cancels the first `max` queued tasks; returns how many, without those that a decision cancelled. */
  purge(max: number, at: number): number {
    let cancelled = 0;
    for (const task of this.inOrder().slice(0, max)) {
      // An earlier one may have decided its group.
      if (task.state !== 'PENDING') continue;
      this.finish(task, 'CANCELLED', 'CANCELLED_BY_CALLER', at);
      cancelled++;
    }
    return cancelled;
  }

  /** Returns `200` or an error code. */
  requeue(task: Task, at: number, delayMs = 0): string {
    if (!['FAILED', 'EXPIRED', 'CANCELLED'].includes(task.state)) return 'MESSAGE_NOT_REQUEUABLE';
    if (this.members.includes(task) && this.state === 'DECIDED') return 'GROUP_DECIDED';
    if (task.verdict !== null) return 'VERDICT_CONFLICT';
    const deadline = (task.deadline ?? 0) > at ? task.deadline : null;
    const since = at + delayMs;
    if (delayMs > 0 && since >= (deadline ?? Infinity)) return 'VALIDATION_FAILED';
    this.queue.push(
      Object.assign(task, { state: 'PENDING', reason: null, attempts: 0, queuedAt: at, since, deadline }),
    );
    return '200';
  }

  /** Returns a task to the queue after a pause, by default the mailbox's. */
  release(task: Task, at: number, pause = pauseMs(this.pauseSeconds, task.attempts)): void {
    if (task.attempts === task.maxAttempts) this.finish(task, 'FAILED', 'ATTEMPTS_EXHAUSTED', at);
    else if (this.state === 'DECIDED' && this.members.includes(task))
      this.finish(task, 'CANCELLED', 'GROUP_DECIDED', at);
    else this.queue.push(Object.assign(task, { state: 'PENDING', queuedAt: at, since: at + pause }));
  }

  /** Makes all that is due take effect, in order; at the same moment, the group comes first. */
  pass(now: number): void {
    const due = (task: Task) =>
      task.state === 'RUNNING' ? task.since : (task.state === 'PENDING' && task.deadline) || Infinity;
    for (;;) {
      const decidesAt = this.state === 'DECIDED' ? Infinity : (this.deadline ?? Infinity);
      const at = Math.min(decidesAt, ...this.tasks.map(due));
      const task = this.tasks.find((one) => due(one) === at);
      if (at > now) return;
      if (decidesAt === at) this.decide('EXPIRED', at);
      else if (task && (task.deadline ?? Infinity) <= at) this.finish(task, 'EXPIRED', 'DEADLINE_EXCEEDED', at);
      else if (task) {
        task.lastError = `the lease ended at ${new Date(at).toISOString()} (holder h)`;
        this.release(task, at);
      }
    }
  }
}
