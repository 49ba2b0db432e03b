import { randomTail } from '../../../src/engine/route/args.ts';
import type { Reply } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { Queue } from '../mailbox/queue.ts';

/** A group, the mailbox of its members, and the requests to it. */
export class Team {
  readonly queue: Queue;
  readonly id: string;
  readonly gate: string;

  constructor(queue: Queue, id: string, gate: string) {
    this.queue = queue;
    this.id = id;
    this.gate = gate;
  }

  /** FIRST_ACCEPTED, on a new queue and with the queue's scope as parent, unless given otherwise. */
  static async create(fields: object = {}, on?: Queue): Promise<Team> {
    const queue = on ?? (await Queue.create());
    const body = { parentScopeId: queue.scopeId, mailboxId: queue.id, condition: 'FIRST_ACCEPTED', ...fields };
    const { groupId, scopeId } = await queue.world.mustPost('/task-groups', body);
    return new Team(queue, groupId, scopeId);
  }

  post(what: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.queue.world.post(`/task-groups/${this.id}/${what}`, body, headers);
  }

  submit(taskKey: string, fields: object = {}): Promise<Reply> {
    return this.post('tasks', { taskKey, ...fields });
  }

  join(taskId: string): Promise<Reply> {
    return this.post('join-task', { taskId });
  }

  accept(taskId: string): Promise<Reply> {
    return this.post(`tasks/${taskId}/accept`);
  }

  reject(taskId: string): Promise<Reply> {
    return this.post(`tasks/${taskId}/reject`);
  }

  seal(): Promise<Reply> {
    return this.post('seal');
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async view(): Promise<any> {
    return (await this.queue.world.get(`/task-groups/${this.id}`)).body;
  }

  /** The states of its members, in order. */
  async states(): Promise<string[]> {
    return (await this.view()).members.map((member: { state: string }) => member.state);
  }

  /** The arguments of the submit script, besides the arguments of every call. */
  submission(taskKey: string) {
    const waits = { deadline: '', delaySeconds: '', maxAttempts: '', prerequisites: '', unique: '' };
    return { groupId: this.id, taskKey, ...waits, tail: randomTail(), taskTail: randomTail(), input: '' };
  }

  /** Submits members of these keys by running the script directly, without HTTP. */
  async fill(taskKeys: readonly string[]): Promise<void> {
    const { world } = this.queue;
    const args = { ...callArgs(world), callName: 'task.submit' };
    const run = (taskKey: string) =>
      world.service.scripts.execute('group/submit', world.org, { ...args, ...this.submission(taskKey) });
    await Promise.all(taskKeys.map(run));
  }

  /** Fills it with members `0`, `1`, … and resolves with the taskIds of all members. */
  async submitted(count: number): Promise<string[]> {
    await this.fill(Array.from({ length: count }, (_, i) => `${i}`));
    return (await this.view()).members.map(({ taskId }: { taskId: string }) => taskId);
  }

  /** Submits this many members and completes them. */
  async succeeded(count: number): Promise<string[]> {
    const ids = await this.submitted(count);
    const { messages } = await this.queue.claim({ max: count });
    for (const claim of messages) await this.queue.act('complete', claim);
    return ids;
  }

  /** How often an event was emitted. */
  async eventCount(type: string): Promise<number> {
    return (await this.queue.world.eventTypes()).filter((one) => one === type).length;
  }
}
