import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Reply, World } from '../../support/world.ts';

/** A mailbox and the requests to it. */
export class Queue {
  readonly world: World;
  readonly id: string;
  readonly scopeId: string = randomUUID();
  constructor(world: World, id: string) {
    this.world = world;
    this.id = id;
  }

  /** In a new World unless given one. */
  static async create(fields: object = {}, world?: World): Promise<Queue> {
    const on = world ?? (await World.create());
    return new Queue(on, (await on.mustPost('/mailboxes', { name: 'jobs', ...fields })).id);
  }

  send(fields: object = {}): Promise<Reply> {
    return this.world.post(`/mailboxes/${this.id}/messages`, { scopeId: this.scopeId, payload: 1, ...fields });
  }

  /** Sends a message, expects success, and returns its id. */
  async sent(fields: object = {}): Promise<string> {
    const reply = await this.send(fields);
    expect(reply.status, reply.text).to.be.oneOf([200, 201]);
    return reply.body.id;
  }

  recv(fields: object = {}): Promise<Reply> {
    const body = { scopeId: this.scopeId, holder: 'worker', holderSession: 'session', ...fields };
    return this.world.post(`/mailboxes/${this.id}/recv`, body);
  }

  /** Receives a message and expects one. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async claim(fields: object = {}): Promise<any> {
    const reply = await this.recv(fields);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  }

  /** Renews, completes or nacks a claim. */
  act(what: 'renew' | 'complete' | 'nack', claim: { id: string; token: string }, fields: object = {}): Promise<Reply> {
    return this.world.post(`/messages/${claim.id}/${what}`, { token: claim.token, ...fields });
  }

  list(query = ''): Promise<Reply> {
    return this.world.get(`/mailboxes/${this.id}/messages${query}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async message(id: string): Promise<any> {
    const { body } = await this.list('?limit=200');
    return body.messages.find((message: { id: string }) => message.id === id);
  }

  /** The mailbox's record. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async record(): Promise<any> {
    const { body } = await this.world.get('/mailboxes?limit=200');
    return body.mailboxes.find((mailbox: { id: string }) => mailbox.id === this.id);
  }

  /** Its messages by state, but for states that none is in. */
  async counts(): Promise<Record<string, number>> {
    const { counts } = await this.record();
    return Object.fromEntries(Object.entries<number>(counts).filter(([, messages]) => messages !== 0));
  }

  /** The types of message events, oldest first. */
  async eventTypes(): Promise<string[]> {
    return (await this.world.eventTypes()).filter((type) => type.startsWith('message.'));
  }
}
