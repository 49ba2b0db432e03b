import { expect } from 'chai';
import type { Reply, World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { expectCounters } from './group.counters.ts';
import type { GroupModel, Task } from './group.model.ts';

export const parentScopeId = '0190a1b2-0000-7000-8000-000000000000';

/** One step: an action, the index of its task or claim, and times. */
export interface Step {
  readonly do: (typeof steps)[number];
  readonly index: number;
  readonly within: number | null;
  /** The delay of a send, nack or requeue. */
  readonly delaySeconds: number | null;
}

export const steps = [
  ...(['submit', 'send', 'join', 'recv', 'recvSome', 'renew', 'complete', 'retry', 'untried'] as const),
  ...(['refuse', 'accept', 'reject', 'seal', 'pass', 'cancel', 'requeue', 'purge', 'requeueSome'] as const),
  ...(['purgeAll', 'requeueAll', 'takeAway'] as const),
];

/** The number of due messages that a receive itself makes ready. */
const ripeAtOnce = 16;

export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The outcomes that the sequences have produced so far. */
export const met = new Set<string>();

/** When and how often a task may be received. */
interface Waits {
  readonly deadline: number | null;
  readonly delaySeconds: number | null;
  readonly maxAttempts: number;
}

const fieldsOf = ({ deadline, delaySeconds, maxAttempts }: Waits) => ({
  ...{ deadline: iso(deadline), maxAttempts },
  ...(delaySeconds !== null && { delaySeconds }),
});

const messageStates = { PENDING: 'READY', RUNNING: 'CLAIMED', SUCCEEDED: 'ACKED' };
/** The state of a task's message, except that the message of a PENDING task may be DELAYED. */
const messageState = ({ state, reason }: Task): string =>
  reason === 'REJECTED_BY_WORKER' ? 'REJECTED' : state in messageStates ? messageStates[state as 'PENDING'] : state;

type Ids = { groupId: string; scopeId: string; mailboxId: string };

/** A group of the service, compared with the model. */
export class Pair {
  readonly #world: World;
  readonly #curl: Curl;
  readonly #model: GroupModel;
  readonly #ids: Ids;
  readonly #createdAt: number;
  readonly #claims: { task: Task; token: string }[] = [];
  #completed = new Map<Task, object>();
  #sealed: string | null = null;
  #requeued = 0;
  #now: number;

  constructor(world: World, curl: Curl, model: GroupModel, ids: Ids, now: number) {
    this.#world = world;
    this.#curl = curl;
    this.#model = model;
    this.#ids = ids;
    this.#createdAt = this.#now = now;
  }

  async take(step: Step): Promise<void> {
    this.#now += step.do === 'pass' ? (step.within ?? 1) : 1;
    await this.#curl.at(this.#now);
    this.#model.pass(this.#now);
    const { tasks, members } = this.#model;
    const outside = tasks.filter((one) => !members.includes(one));
    const [task, outsider] = [tasks, outside].map((list) => list[step.index % Math.max(1, list.length)]);
    const claim = this.#claims[this.#claims.length - 1 - (step.index % Math.max(1, this.#claims.length))];
    const deadline = step.within === null ? null : this.#now + step.within;
    const waits = { deadline, delaySeconds: step.delaySeconds, maxAttempts: step.index > 6 ? step.index - 6 : 5 };
    if (step.do === 'submit') await this.#submit(`k${step.index}`, waits);
    else if (step.do === 'send') await this.#send(waits);
    else if (step.do === 'recv') await this.#recv();
    else if (step.do === 'recvSome') await this.#recvSome(2 + (step.index % 3));
    else if (step.do === 'purge') await this.#purge(1 + (step.index % 4));
    else if (step.do === 'requeueSome') await this.#requeueSome(step.index);
    else if (step.do === 'purgeAll') await this.#purgeAll();
    else if (step.do === 'requeueAll') await this.#requeueAll(step.index);
    else if (step.do === 'takeAway' && task) await this.#takeAway(task);
    else if (step.do === 'seal') await this.#seal();
    else if (step.do === 'join' && task) await this.#join(outsider ?? task);
    else if (step.do === 'renew' && claim) await this.#renew(claim.task, claim.token);
    else if (step.do === 'complete' && claim) await this.#complete(claim.task, claim.token);
    else if (step.do === 'retry' && claim) await this.#nack(claim.task, claim.token, true, step.delaySeconds);
    else if (step.do === 'untried' && claim) await this.#giveBack(claim.task, claim.token, step.delaySeconds);
    else if (step.do === 'refuse' && claim) await this.#nack(claim.task, claim.token, false, null);
    else if (step.do === 'accept' && task) await this.#judge(task, 'ACCEPTED');
    else if (step.do === 'reject' && task) await this.#judge(task, 'REJECTED');
    else if (step.do === 'cancel' && task) await this.#cancel(task);
    else if (step.do === 'requeue' && task) await this.#requeue(task, step.delaySeconds ?? 0);
    else await this.#curl.post(`/messages/${parentScopeId}/renew`, { token: 'any call makes real what is due' });
    await this.#compare();
  }

  /** Advances until everything has ended, and checks the events. */
  async end(): Promise<void> {
    await this.take({ do: 'seal', index: 0, within: null, delaySeconds: null });
    for (const within of [30_000, 330_000]) await this.take({ do: 'pass', index: 0, within, delaySeconds: null });
    const types = await this.#world.eventTypes();
    const countOf = (type: string): number => types.filter((one) => one === type).length;
    expect(countOf('group.decided')).to.equal(this.#model.state === 'DECIDED' ? 1 : 0);
    expect(countOf('group.task_joined')).to.equal(this.#model.count(({ taskKey }) => taskKey === null));
    expect(countOf('task.submitted')).to.equal(this.#model.count(({ taskKey }) => taskKey !== null));
    for (const state of ['SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'])
      expect(countOf(`task.${state.toLowerCase()}`)).to.be.at.most(
        this.#model.count((task) => task.state === state) + this.#requeued,
      );
  }

  async #submit(taskKey: string, waits: Waits): Promise<void> {
    const reply = await this.#post('tasks', { taskKey, ...fieldsOf(waits) });
    const { state, members } = this.#model;
    if (state !== 'OPEN') return this.#code(reply, 'GROUP_NOT_OPEN');
    if (members.some((task) => task.taskKey === taskKey)) return this.#code(reply, 'TASK_KEY_CONFLICT');
    if (this.#isLate(waits)) return this.#code(reply, 'VALIDATION_FAILED');
    members.push(this.#add(reply.body.taskId, reply.body.messageId, taskKey, waits));
  }

  async #send(waits: Waits): Promise<void> {
    const path = `/mailboxes/${this.#ids.mailboxId}/messages`;
    const reply = await this.#curl.post(path, { scopeId: parentScopeId, payload: 1, ...fieldsOf(waits) });
    if (this.#isLate(waits)) return this.#code(reply, 'VALIDATION_FAILED');
    expect(reply.body.state).to.equal((waits.delaySeconds ?? 0) > 0 ? 'DELAYED' : 'READY');
    this.#add(reply.body.id, reply.body.id, null, waits);
  }

  /** Whether a delay reaches the deadline. */
  #isLate({ deadline, delaySeconds }: Waits): boolean {
    return deadline !== null && (delaySeconds ?? 0) > 0 && this.#now + 1000 * (delaySeconds ?? 0) >= deadline;
  }

  #add(id: string, messageId: string, taskKey: string | null, { deadline, delaySeconds, maxAttempts }: Waits): Task {
    const initial = { state: 'PENDING' as const, reason: null, verdict: null, attempts: 0, token: '', lastError: null };
    const since = this.#now + 1000 * (delaySeconds ?? 0);
    const task: Task = { id, messageId, taskKey, deadline, maxAttempts, since, queuedAt: this.#now, ...initial };
    this.#model.tasks.push(task);
    this.#model.queue.push(task);
    return task;
  }

  async #join(task: Task): Promise<void> {
    const reply = await this.#post('join-task', { taskId: task.id });
    const { state, members } = this.#model;
    const joinable = ['PENDING', 'RUNNING', 'SUCCEEDED'].includes(task.state);
    if (!members.includes(task)) {
      if (state !== 'OPEN') return this.#code(reply, 'GROUP_NOT_OPEN');
      if (!joinable) return this.#code(reply, 'TASK_NOT_JOINABLE');
      members.push(task);
    }
    const { groupId } = this.#ids;
    expect(reply.body).to.deep.equal({ groupId, groupState: state, taskId: task.id, members: members.length });
  }

  /** Expects the oldest ready task, whichever it is, and never a cancelled one. */
  async #recv(): Promise<void> {
    const body = { scopeId: parentScopeId, holder: 'h', holderSession: 's', leaseSeconds: 5 };
    const reply = await this.#curl.post(`/mailboxes/${this.#ids.mailboxId}/recv`, body);
    const [task] = this.#ready();
    expect([reply.status, reply.body?.id]).to.deep.equal(task ? [200, task.messageId] : [204, undefined]);
    if (task) this.#claimed(task, reply.body);
  }

  /** Receives several across all runs, of which there is only one. */
  async #recvSome(max: number): Promise<void> {
    const body = { scopeId: '*', holder: 'h', holderSession: 's', leaseSeconds: 5, max };
    const reply = await this.#curl.post(`/mailboxes/${this.#ids.mailboxId}/recv`, body);
    const ready = this.#ready();
    const got: Reply['body'][] = reply.body?.messages ?? [];
    expect(reply.status).to.equal(ready.length > 0 ? 200 : 204);
    expect(got.map(({ id }) => id)).to.deep.equal(ready.slice(0, got.length).map(({ messageId }) => messageId));
    // If many are due together, it may return fewer.
    if (ready.length <= ripeAtOnce) expect(got.length).to.equal(Math.min(max, ready.length));
    for (const [i, task] of ready.slice(0, got.length).entries()) this.#claimed(task, got[i]);
    if (got.length > 1) met.add('several');
  }

  #ready = (): Task[] => this.#model.inOrder().filter(({ since }) => since <= this.#now);

  #claimed(task: Task, body: Reply['body']): void {
    const { queue, members } = this.#model;
    queue.splice(queue.indexOf(task), 1);
    const since = Math.min(this.#now + 5000, task.deadline ?? Infinity);
    Object.assign(task, { state: 'RUNNING', attempts: task.attempts + 1, token: body.token, since });
    const groupId = members.includes(task) ? this.#ids.groupId : null;
    const { taskKey, attempts: attempt, maxAttempts, lastError } = task;
    expect(body).to.include({ taskId: task.id, taskKey, groupId, attempt, maxAttempts, lastError, readyAt: null });
    this.#claims.push({ task, token: task.token });
  }

  async #renew(task: Task, token: string): Promise<void> {
    const reply = await this.#curl.post(`/messages/${task.messageId}/renew`, { token, leaseSeconds: 6 });
    if (!this.#holds(task, token)) return this.#code(reply, 'CLAIM_LOST');
    task.since = Math.min(this.#now + 6000, task.deadline ?? Infinity);
    expect(reply.body).to.include({ leaseExpiresAt: iso(task.since), groupState: this.#stateFor(task) });
  }

  async #complete(task: Task, token: string): Promise<void> {
    const reply = await this.#curl.post(`/messages/${task.messageId}/complete`, { token, result: { payload: token } });
    const first = this.#completed.get(task);
    if (first && task.token === token) {
      met.add('replay');
      expect(reply.body).to.deep.equal({ ...first, replay: true });
      return;
    }
    if (!this.#holds(task, token)) return this.#code(reply, 'CLAIM_LOST');
    this.#model.finish(task, 'SUCCEEDED', null, this.#now);
    const groupId = this.#model.members.includes(task) ? this.#ids.groupId : null;
    const expected = { taskId: task.id, taskState: 'SUCCEEDED', groupId, groupState: this.#stateFor(task) };
    expect(reply.body).to.include({ ...expected, replay: false });
    this.#completed.set(task, reply.body);
  }

  async #nack(task: Task, token: string, retry: boolean, delaySeconds: number | null): Promise<void> {
    const error = delaySeconds === null ? null : `after ${task.attempts}`;
    const body = { token, retry, ...(delaySeconds !== null && { delaySeconds, error }) };
    const reply = await this.#curl.post(`/messages/${task.messageId}/nack`, body);
    if (!this.#holds(task, token)) return this.#code(reply, 'CLAIM_LOST');
    if (error !== null) task.lastError = error;
    if (!retry) this.#model.finish(task, 'FAILED', 'REJECTED_BY_WORKER', this.#now);
    else if (delaySeconds === null) this.#model.release(task, this.#now);
    else this.#model.release(task, this.#now, 1000 * delaySeconds);
    expect(reply.body).to.include({ ...this.#stands(task), attempts: task.attempts });
    met.add(reply.body.state);
  }

  /** Gives a claim back without counting the attempt. */
  async #giveBack(task: Task, token: string, delaySeconds: number | null): Promise<void> {
    const body = { token, retry: true, countsAttempt: false, ...(delaySeconds !== null && { delaySeconds }) };
    const reply = await this.#curl.post(`/messages/${task.messageId}/nack`, body);
    if (!this.#holds(task, token)) return this.#code(reply, 'CLAIM_LOST');
    task.attempts--;
    this.#model.release(task, this.#now, 1000 * (delaySeconds ?? 0));
    expect(reply.body).to.include({ ...this.#stands(task), attempts: task.attempts });
    met.add(`untried ${reply.body.state}`);
  }

  /** The state of a task's message, and when it becomes ready. */
  #stands(task: Task): { state: string; readyAt: string | null } {
    const isDelayed = task.state === 'PENDING' && task.since > this.#now;
    const state = isDelayed ? 'DELAYED' : messageState(task);
    return { state, readyAt: isDelayed ? iso(task.since) : null };
  }

  async #cancel(task: Task): Promise<void> {
    const reply = await this.#curl.post(`/messages/${task.messageId}/cancel`);
    const outcome = this.#model.cancel(task, this.#now);
    if (outcome !== '200') return this.#code(reply, outcome);
    this.#changed(reply, task);
    met.add('cancel');
  }

  async #requeue(task: Task, delaySeconds: number): Promise<void> {
    const reply = await this.#curl.post(`/messages/${task.messageId}/requeue`, { delaySeconds });
    const outcome = this.#model.requeue(task, this.#now, 1000 * delaySeconds);
    if (outcome !== '200') return this.#code(reply, outcome);
    this.#changed(reply, task);
    this.#requeued++;
    met.add('requeue');
  }

  #changed(reply: Reply, task: Task): void {
    const { messageId: id, reason, attempts, maxAttempts, lastError } = task;
    expect(reply.body).to.include({ id, reason, attempts, maxAttempts, lastError, ...this.#stands(task) });
  }

  /** Skipped while due messages may still be DELAYED, as their order is unspecified. */
  async #purge(max: number): Promise<void> {
    if (this.#model.queue.some(({ since, queuedAt }) => since > queuedAt && since <= this.#now)) return;
    const { body } = await this.#curl.post(`/mailboxes/${this.#ids.mailboxId}/purge`, { max });
    const cancelled = this.#model.purge(max, this.#now);
    expect(body.cancelled).to.equal(cancelled);
    if (cancelled > 0) met.add('purge');
  }

  /** Requeues the oldest messages in one final state, except messages that may not be requeued. */
  async #requeueSome(index: number): Promise<void> {
    const state = ['CANCELLED', 'FAILED', 'REJECTED', 'EXPIRED'][index % 4];
    const max = 1 + (index % 3);
    const { body } = await this.#curl.post(`/mailboxes/${this.#ids.mailboxId}/requeue`, { state, max });
    let requeued = 0;
    for (const task of this.#model.tasks.filter((one) => messageState(one) === state))
      if (requeued < max && this.#model.requeue(task, this.#now) === '200') requeued++;
    expect(body.requeued).to.equal(requeued);
    this.#requeued += requeued;
    if (requeued > 0) met.add('requeueSome');
  }

  /** Has workers do it at once. Resolves with the bulk after its end. */
  async #inBulk(body: object) {
    const { id } = (await this.#curl.post(`/mailboxes/${this.#ids.mailboxId}/bulk`, body)).body;
    await this.#world.service.due.drain(this.#world.org, '*');
    const bulk = (await this.#world.get(`/bulk/${id}`)).body;
    expect(bulk.state).to.equal('DONE');
    return bulk;
  }

  async #purgeAll(): Promise<void> {
    const { done } = await this.#inBulk({ action: 'PURGE' });
    let cancelled = 0;
    for (const task of this.#model.tasks) {
      // An earlier one may have decided its group.
      if (task.state !== 'PENDING') continue;
      this.#model.cancel(task, this.#now);
      cancelled++;
    }
    expect(done).to.equal(cancelled);
    if (cancelled > 0) met.add('purgeAll');
  }

  async #requeueAll(index: number): Promise<void> {
    const state = ['CANCELLED', 'FAILED', 'REJECTED', 'EXPIRED'][index % 4];
    const { done, passedOver } = await this.#inBulk({ action: 'REQUEUE', state });
    const outcomes: Record<string, number> = {};
    for (const task of this.#model.tasks.filter((one) => messageState(one) === state)) {
      const outcome = this.#model.requeue(task, this.#now);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    const { 200: requeued = 0, ...refused } = outcomes;
    expect({ done, passedOver }).to.deep.equal({ done: requeued, passedOver: refused });
    this.#requeued += requeued;
    if (requeued > 0) met.add('requeueAll');
  }

  async #takeAway(task: Task): Promise<void> {
    const reply = await this.#curl.post(`/messages/${task.messageId}/release`);
    if (task.state !== 'RUNNING') return this.#code(reply, 'MESSAGE_NOT_CLAIMED');
    task.lastError = `the claim was released by an operator at ${iso(this.#now)} (holder h)`;
    this.#model.release(task, this.#now);
    this.#changed(reply, task);
    met.add('takeAway');
  }

  async #judge(task: Task, verdict: 'ACCEPTED' | 'REJECTED'): Promise<void> {
    const accept = verdict === 'ACCEPTED';
    const reply = await this.#post(`tasks/${task.id}/${accept ? 'accept' : 'reject'}`);
    if (!this.#model.members.includes(task)) return this.#code(reply, 'TASK_NOT_FOUND');
    if (task.verdict !== null && task.verdict !== verdict) return this.#code(reply, 'VERDICT_CONFLICT');
    if (accept && task.state !== 'SUCCEEDED') return this.#code(reply, 'TASK_NOT_SUCCEEDED');
    if (task.state === 'PENDING' || task.state === 'RUNNING') return this.#code(reply, 'TASK_NOT_TERMINAL');
    task.verdict = verdict;
    this.#model.evaluate(this.#now);
    const { state: groupState, outcome } = this.#model;
    expect(reply.body).to.deep.equal({ taskId: task.id, verdict, groupId: this.#ids.groupId, groupState, outcome });
  }

  async #seal(): Promise<void> {
    const reply = await this.#post('seal');
    const model = this.#model;
    if (model.sealedAt === null && model.state === 'DECIDED') return this.#code(reply, 'GROUP_DECIDED');
    if (model.sealedAt === null) {
      Object.assign(model, { state: 'SEALED', sealedAt: this.#now });
      model.evaluate(this.#now);
      this.#sealed = model.outcome;
    }
    expect(reply.body).to.deep.equal({ groupId: this.#ids.groupId, state: 'SEALED', outcome: this.#sealed });
  }

  #post = (what: string, body?: unknown): Promise<Reply> =>
    this.#curl.post(`/task-groups/${this.#ids.groupId}/${what}`, body);

  #code(reply: Reply, code: string): void {
    expect(reply.body.error?.code).to.equal(code);
    met.add(code);
  }

  #holds = (task: Task, token: string): boolean => task.state === 'RUNNING' && task.token === token;

  #stateFor = (task: Task): string | null => (this.#model.members.includes(task) ? this.#model.state : null);

  async #compare(): Promise<void> {
    const { condition, needed, deadline, state, outcome, sealedAt, decidedAt, members, tasks, count } = this.#model;
    const { groupId } = this.#ids;
    const { body } = await this.#curl.get(`/task-groups/${groupId}`);
    const states = ['pending', 'running', 'succeeded', 'failed', 'expired', 'cancelled'];
    const counts = states.map((name) => [name, count((task) => task.state === name.toUpperCase())]);
    const verdicts = ['accepted', 'rejected'].map((name) => [
      name,
      count((task) => task.verdict === name.toUpperCase()),
    ]);
    expect(body).to.deep.equal({
      ...{ id: groupId, ...this.#ids, parentScopeId, condition, state, outcome, workKey: null },
      threshold: condition === 'N_ACCEPTED' ? needed : null,
      counts: { members: members.length, ...Object.fromEntries([...counts, ...verdicts]) },
      members: members.map(({ id: taskId, token, state, verdict, lastError, ...of }) => ({
        ...{ taskId, taskKey: of.taskKey, state, verdict, reason: of.reason, attempts: of.attempts },
        ...{ messageId: of.messageId, deadline: iso(of.deadline) },
        outcome: state === 'SUCCEEDED' ? token : null,
        lastError,
      })),
      ...{
        deadline: iso(deadline),
        createdAt: iso(this.#createdAt),
        sealedAt: iso(sealedAt),
        decidedAt: iso(decidedAt),
      },
    });
    for (const { reason } of tasks) met.add(`${reason}`);
    met.add(`${outcome}`);
    await expectCounters(this.#world, this.#model, this.#now);
  }
}
