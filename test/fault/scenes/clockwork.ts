import { randomUUID } from 'node:crypto';
import type { Access } from '../../support/processes.ts';
import { Shared } from './scene.ts';

export const everySeconds = 5;

/** A schedule with a mailbox of its own. */
export interface Clockwork {
  readonly access: Access;
  readonly id: string;
  readonly mailboxId: string;
  readonly scopeId: string;
}

/** A schedule that fires throughout, and that any client triggers. */
export class ClockworkScene extends Shared<Clockwork> {
  protected async make(client: number): Promise<Clockwork | undefined> {
    const { access, load } = this;
    const scopeId = randomUUID();
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'clockwork' });
    if (mailboxId === undefined) return undefined;
    const body = { name: randomUUID(), mailboxId, scopeId, payload: 1, everySeconds, priority: 3, key: 'tick' };
    // Ended ones count until retention removes them.
    const id = await this.create(client, 'schedule', '/schedules', body, ['SCHEDULES_FULL']);
    if (id === undefined) return undefined;
    const clockwork = { access, id, mailboxId, scopeId };
    load.clockworks.push(clockwork);
    return clockwork;
  }

  protected async use(client: number, { access, id }: Clockwork): Promise<void> {
    await this.load.call(client, access, {
      kind: 'trigger',
      object: `schedule ${id}`,
      path: `/schedules/${id}/trigger`,
      body: {},
    });
  }
}
