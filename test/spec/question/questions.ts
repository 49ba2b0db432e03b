import { randomUUID } from 'node:crypto';
import { workOff } from '../../support/work-off.ts';
import type { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: as World's own answers.
type Body = any;

/** A mailbox whose messages ask. */
export class Asking {
  readonly world: World;
  readonly mailboxId: string;
  readonly scopeId = randomUUID();

  constructor(world: World, mailboxId: string) {
    this.world = world;
    this.mailboxId = mailboxId;
  }

  static async create(world: World, box: object = {}): Promise<Asking> {
    return new Asking(world, (await world.mustPost('/mailboxes', { name: 'work', ...box })).id);
  }

  send(more: object = {}): Promise<Body> {
    return this.world.mustPost(`/mailboxes/${this.mailboxId}/messages`, { scopeId: this.scopeId, payload: 1, ...more });
  }

  /** Undefined: there is none to receive. */
  async recv(scopeId = this.scopeId): Promise<Body> {
    const claiming = { scopeId, holder: 'worker-1', holderSession: 's', leaseSeconds: 600 };
    return (await this.world.post(`/mailboxes/${this.mailboxId}/recv`, claiming)).body;
  }

  ask({ id, token }: Body, more: object = {}, headers?: Record<string, string>) {
    return this.world.post(`/messages/${id}/ask`, { token, question: 'Publish?', ...more }, headers);
  }

  /** Sends and receives a message, and asks with it. Resolves with the answer to the ask. */
  async asked(more: object = {}, ofMessage: object = {}): Promise<Body> {
    await this.send(ofMessage);
    const { status, body, text } = await this.ask(await this.recv(), more);
    if (status !== 201) throw new Error(text);
    return body;
  }

  answer(questionId: string, answer: unknown = 'yes', answeredBy = 'ann') {
    return this.world.post(`/questions/${questionId}/answer`, { answer, answeredBy });
  }

  async question(id: string): Promise<Body> {
    return (await this.world.get(`/questions/${id}`)).body;
  }

  async message(id: string): Promise<Body> {
    return (await this.world.get(`/messages/${id}`)).body;
  }

  /** Moves the clock, then does what is due, as a worker would. */
  async passTo(at: number): Promise<void> {
    await this.world.at(at);
    await this.world.service.due.drain(this.world.org);
    await workOff(this.world);
  }
}
