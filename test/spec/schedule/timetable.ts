import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Reply, World } from '../../support/world.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
/** A Monday. */
export const start = Date.parse('2030-01-07T10:00:00.000Z');

export const iso = (at: number): string => new Date(at).toISOString();

/** A space with its own clock, a mailbox and a run for schedules. */
export class Timetable {
  readonly world: World;
  readonly mailboxId: string;
  readonly scopeId: string = randomUUID();
  /** The moment at which the clock stands. */
  now = start;

  private constructor(world: World, mailboxId: string) {
    this.world = world;
    this.mailboxId = mailboxId;
  }

  static async create(choice: Parameters<typeof World.create>[0] = {}, mailbox: object = {}): Promise<Timetable> {
    const world = await World.create(choice);
    await world.at(start);
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 1000, ...mailbox });
    return new Timetable(world, id);
  }

  post(fields: object = {}, headers?: Record<string, string>): Promise<Reply> {
    const defaults = { name: `n-${randomUUID()}`, mailboxId: this.mailboxId, scopeId: this.scopeId, payload: { n: 1 } };
    const timing = 'cron' in fields || 'everySeconds' in fields ? {} : { everySeconds: 60 };
    return this.world.post('/schedules', { ...defaults, ...timing, ...fields }, headers);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async created(fields: object = {}): Promise<any> {
    const reply = await this.post(fields);
    expect(reply.status, reply.text).to.equal(201);
    return reply.body;
  }

  /** As a change answers it, without the moments after the next. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async view(id: string): Promise<any> {
    const { nextMoments: _, ...view } = (await this.world.get(`/schedules/${id}`)).body;
    return view;
  }

  patch(id: string, body: object, headers?: Record<string, string>): Promise<Reply> {
    return this.world.call('PATCH', `/schedules/${id}`, body, headers);
  }

  remove(id: string): Promise<Reply> {
    return this.world.call('DELETE', `/schedules/${id}`);
  }

  trigger(id: string, headers?: Record<string, string>): Promise<Reply> {
    return this.world.post(`/schedules/${id}/trigger`, undefined, headers);
  }

  /** Sets the clock without sweeping. */
  async at(moment: number): Promise<void> {
    this.now = moment;
    await this.world.at(moment);
  }

  /** Fires due schedules, as the workers do. */
  fire(): Promise<void> {
    return this.world.service.schedules.drain(this.world.org);
  }

  /** Sets the clock and fires due schedules. */
  async fireAt(moment: number): Promise<void> {
    await this.at(moment);
    await this.fire();
  }

  /** The messages sent, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async sent(mailboxId = this.mailboxId): Promise<any[]> {
    return (await this.world.get(`/mailboxes/${mailboxId}/messages?limit=200`)).body.messages;
  }

  /** The moments at which a schedule sent a message, taken from workKeys. */
  async moments(id: string): Promise<string[]> {
    const head = `schedule:${id}:`;
    const keys = (await this.sent()).map(({ workKey }) => String(workKey));
    return keys.flatMap((key) => (key.startsWith(head) ? [key.slice(head.length)] : []));
  }

  /** The events of these types, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  async events(types = 'schedule.*'): Promise<any[]> {
    return (await this.world.get(`/watch?limit=500&types=${types}`)).body.events;
  }

  async usage(): Promise<Readonly<Record<string, number>>> {
    const { body } = await this.world.get(`/usage?from=${iso(this.now).slice(0, 10)}&to=${iso(this.now).slice(0, 10)}`);
    return body.days[0].byCall;
  }
}
