/** A task of the world: a member of the group once `joined`, in the order of the group's `members`. */
export interface Task {
  readonly id: string;
  readonly messageId: string;
  readonly taskKey: string | null;
  readonly deadline: number | null;
  state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED';
  reason: string | null;
  verdict: string | null;
  attempts: number;
  token: string;
  leaseEnd: number;
  /** Its place in the queue: when it became ready, and its turn among those of the same moment. */
  ready: [at: number, turn: number];
  groupState: string | null;
}

/** What one group does, and the mailbox that its members and some other tasks go through. */
export class GroupModel {
  readonly tasks: Task[] = [];
  readonly members: Task[] = [];
  state = 'OPEN';
  outcome: string | null = null;
  sealOutcome: string | null = null;
  sealedAt: number | null = null;
  decidedAt: number | null = null;
  #turns = 0;
  readonly condition: string;
  readonly needed: number;
  readonly deadline: number | null;

  constructor(condition: string, needed: number, deadline: number | null) {
    this.condition = condition;
    this.needed = needed;
    this.deadline = deadline;
  }

  is = (...states: string[]): number => this.members.filter((member) => states.includes(member.state)).length;

  judged = (verdict: string): number => this.members.filter((member) => member.verdict === verdict).length;

  add(ids: Pick<Task, 'id' | 'messageId' | 'taskKey' | 'deadline'>, now: number): Task {
    const empty = { reason: null, verdict: null, attempts: 0, token: '', leaseEnd: 0, groupState: null };
    this.tasks.push({ ...ids, ...empty, state: 'PENDING', ready: [now, this.#turns++] });
    return this.tasks.at(-1) as Task;
  }

  next(): Task | undefined {
    const waiting = this.tasks.filter((task) => task.state === 'PENDING');
    return waiting.sort((a, b) => a.ready[0] - b.ready[0] || a.ready[1] - b.ready[1])[0];
  }

  decide(outcome: string, at: number): void {
    Object.assign(this, { state: 'DECIDED', outcome, decidedAt: at });
    for (const member of this.members)
      if (member.state === 'PENDING') this.finish(member, 'CANCELLED', 'GROUP_DECIDED', at);
  }

  evaluate(at: number): void {
    const alive = this.is('PENDING', 'RUNNING');
    const unjudged = this.members.filter((member) => member.state === 'SUCCEEDED' && member.verdict === null).length;
    if (this.state === 'DECIDED') return;
    if (this.condition === 'ALL_TERMINAL') {
      if (this.state === 'SEALED' && alive === 0) this.decide('SATISFIED', at);
    } else if (this.judged('ACCEPTED') >= this.needed) this.decide('SATISFIED', at);
    else if (this.state === 'SEALED' && this.judged('ACCEPTED') + alive + unjudged < this.needed)
      this.decide('UNSATISFIABLE', at);
  }

  finish(task: Task, state: Task['state'], reason: string | null, at: number): void {
    Object.assign(task, { state, reason });
    if (!this.members.includes(task)) return;
    this.evaluate(at);
    task.groupState = this.state;
  }

  /** A nack with retry, or (after the last attempt too) the end of a lease. */
  release(task: Task, at: number): void {
    if (task.attempts >= 5) this.finish(task, 'FAILED', 'ATTEMPTS_EXHAUSTED', at);
    else if (this.state === 'DECIDED' && this.members.includes(task))
      this.finish(task, 'CANCELLED', 'GROUP_DECIDED', at);
    else Object.assign(task, { state: 'PENDING', ready: [at, this.#turns++] });
  }

  /** Everything that is due by now, in order; at one moment the group comes before its members. */
  pass(now: number): void {
    for (;;) {
      const dues = this.tasks.map(
        (task) =>
          (task.state === 'RUNNING' ? task.leaseEnd : task.state === 'PENDING' ? task.deadline : null) ?? Infinity,
      );
      const own = this.state === 'DECIDED' ? Infinity : (this.deadline ?? Infinity);
      const at = Math.min(own, ...dues);
      if (at > now) return;
      const task = this.tasks[dues.indexOf(at)];
      if (own === at) this.decide('EXPIRED', at);
      else if (task?.deadline === at) this.finish(task, 'EXPIRED', 'DEADLINE_EXCEEDED', at);
      else if (task) this.release(task, at);
    }
  }
}
