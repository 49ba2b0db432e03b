import { randomUUID } from 'node:crypto';
import { workOff } from '../../support/work-off.ts';
import type { Reply } from '../../support/world.ts';
import { World } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';

/** A run that can be cancelled, and the requests to it. */
export class Run {
  readonly world: World;
  readonly scopeId: string;
  readonly mailboxId: string;

  constructor(world: World, scopeId: string, mailboxId: string) {
    this.world = world;
    this.scopeId = scopeId;
    this.mailboxId = mailboxId;
  }

  /** Has a new mailbox, in a new World unless given one. */
  static async create(world?: World): Promise<Run> {
    const on = world ?? (await World.create());
    return new Run(on, randomUUID(), (await on.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 100_000 })).id);
  }

  /** Another run of the same mailbox. */
  another(scopeId: string = randomUUID()): Run {
    return new Run(this.world, scopeId, this.mailboxId);
  }

  /** A scope below this one, of the same mailbox. */
  async below(): Promise<Run> {
    const { id } = await this.world.mustPost('/scopes', { parentScopeId: this.scopeId });
    return this.another(id);
  }

  send(fields: object = {}): Promise<Reply> {
    return this.world.post(`/mailboxes/${this.mailboxId}/messages`, { scopeId: this.scopeId, payload: 1, ...fields });
  }

  /** Sends messages; resolves with their ids. */
  async sent(count: number, fields: object = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await this.send(fields)).body.id);
    return ids;
  }

  /** Sends many messages by running the script directly, without HTTP. */
  fill(count: number): Promise<void> {
    return sendMany(new Queue(this.world, this.mailboxId), count, { scopeIds: [this.scopeId] });
  }

  recv(fields: object = {}): Promise<Reply> {
    const body = { scopeId: this.scopeId, holder: 'worker', holderSession: 'session', ...fields };
    return this.world.post(`/mailboxes/${this.mailboxId}/recv`, body);
  }

  cancel(headers?: Record<string, string>): Promise<Reply> {
    return this.world.post(`/scopes/${this.scopeId}/cancel`, undefined, headers);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async view(): Promise<any> {
    return (await this.world.get(`/scopes/${this.scopeId}`)).body;
  }

  /** Its messages and those of the scopes below, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async messages(): Promise<any[]> {
    const path = `/mailboxes/${this.mailboxId}/messages?limit=200&scopeId=${this.scopeId}`;
    return (await this.world.get(path)).body.messages;
  }

  /** Lets the workers finish all cancels. */
  async worked(): Promise<void> {
    await workOff(this.world);
  }
}

/** More messages than the first step of a cancel ends. */
export const many = 260;

/**
 * A run with that many messages in a scope below it. A cancel ends these first, and does not reach the rest at once.
 */
export async function filled(world?: World): Promise<{ run: Run; inner: Run }> {
  const run = await Run.create(world ?? (await World.create({ limits: { maxBacklog: 100_000 } })));
  const inner = await run.below();
  await inner.fill(many);
  return { run, inner };
}
