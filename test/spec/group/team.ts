import type { Reply } from '../../support/world.ts';
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
    const { groupId, scopeId } = await queue.world.made('/task-groups', body);
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

  /** Submits members `0`, `1`, … and resolves with their taskIds. */
  async submitted(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await this.submit(`${i}`)).body.taskId);
    return ids;
  }

  /** Submits that many members and completes them; resolves with their taskIds. */
  async succeeded(count: number): Promise<string[]> {
    const ids = await this.submitted(count);
    for (const _ of ids) await this.queue.act('complete', await this.queue.claim());
    return ids;
  }

  /** How often an event was emitted. */
  async told(type: string): Promise<number> {
    return (await this.queue.world.eventTypes()).filter((one) => one === type).length;
  }
}
