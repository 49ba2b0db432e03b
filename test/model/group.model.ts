export interface Task {
  readonly id: string;
  readonly messageId: string;
  readonly taskKey: string | null;
  deadline: number | null;
  state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED';
  reason: string | null;
  verdict: string | null;
  attempts: number;
  token: string;
  /** The moment it became ready, then the end of its lease. */
  since: number;
}

/** One group, and the queue that its members and other tasks wait in. */
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

  constructor(condition: string, needed: number, deadline: number | null) {
    this.condition = condition;
    this.needed = needed;
    this.deadline = deadline;
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

  /** `200`, or a code. */
  cancel(task: Task, at: number): string {
    if (task.state === 'PENDING' || task.state === 'RUNNING') this.finish(task, 'CANCELLED', 'CANCELLED_BY_CALLER', at);
    return task.state === 'CANCELLED' ? '200' : 'MESSAGE_FINISHED';
  }

  /** `200`, or a code. */
  requeue(task: Task, at: number): string {
    if (!['FAILED', 'EXPIRED', 'CANCELLED'].includes(task.state)) return 'MESSAGE_NOT_REQUEUABLE';
    if (this.members.includes(task) && this.state === 'DECIDED') return 'GROUP_DECIDED';
    if (task.verdict !== null) return 'VERDICT_CONFLICT';
    const deadline = (task.deadline ?? 0) > at ? task.deadline : null;
    this.queue.push(Object.assign(task, { state: 'PENDING', reason: null, attempts: 0, since: at, deadline }));
    return '200';
  }

  release(task: Task, at: number): void {
    if (task.attempts === 5) this.finish(task, 'FAILED', 'ATTEMPTS_EXHAUSTED', at);
    else if (this.state === 'DECIDED' && this.members.includes(task))
      this.finish(task, 'CANCELLED', 'GROUP_DECIDED', at);
    else this.queue.push(Object.assign(task, { state: 'PENDING', since: at }));
  }

  /** All that is due by now, in order; of one moment the group comes first. */
  pass(now: number): void {
    const due = (task: Task) =>
      task.state === 'RUNNING' ? task.since : (task.state === 'PENDING' && task.deadline) || Infinity;
    for (;;) {
      const own = this.state === 'DECIDED' ? Infinity : (this.deadline ?? Infinity);
      const at = Math.min(own, ...this.tasks.map(due));
      const task = this.tasks.find((one) => due(one) === at);
      if (at > now) return;
      if (own === at) this.decide('EXPIRED', at);
      else if (task && (task.deadline ?? Infinity) <= at) this.finish(task, 'EXPIRED', 'DEADLINE_EXCEEDED', at);
      else if (task) this.release(task, at);
    }
  }
}
