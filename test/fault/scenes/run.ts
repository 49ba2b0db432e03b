import { randomUUID } from 'node:crypto';
import type { Access } from '../../support/processes.ts';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/** A run that somebody stops while others still work in it. */
export interface StoppedRun {
  readonly access: Access;
  readonly scopeId: string;
  readonly childId: string;
  readonly mailboxId: string;
  readonly allowanceId: string;
}

/** Work of every kind in a scope and in one below it, until the run is stopped. */
export class RunScene extends Shared<StoppedRun> {
  protected async make(client: number): Promise<StoppedRun | undefined> {
    const { load, access } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'stopped' });
    const scopeId = await this.create(client, 'scope', '/scopes', { name: 'run' });
    const childId = await this.create(client, 'scope', '/scopes', { parentScopeId: scopeId, name: 'below' });
    // The only unit of a year is consumed below, so waiters are never granted.
    const figures = { name: randomUUID(), unitsLimit: 1, windowSeconds: 31_536_000 };
    const allowanceId = await this.create(client, 'allowance', '/allowances', figures);
    if (mailboxId === undefined || scopeId === undefined || childId === undefined || allowanceId === undefined)
      return undefined;
    const consume = { scopeId: randomUUID(), holder: 'h', units: 1 };
    const used = { kind: 'consume', object: `allowance ${allowanceId}`, path: `/allowances/${allowanceId}/consume` };
    await load.call(client, access, { ...used, body: consume, read: ({ id, units }) => ({ id, units }) });
    const run = { access, scopeId, childId, mailboxId, allowanceId };
    load.runs.push(run);
    return run;
  }

  protected async use(client: number, { scopeId, childId, mailboxId, allowanceId }: StoppedRun): Promise<void> {
    const { load, access } = this;
    const object = `run ${scopeId}`;
    const choice = load.chance.next();
    const where = load.chance.next() < 0.5 ? scopeId : childId;
    const make = (kind: string, path: string, body: object) =>
      load.call(client, access, {
        ...{ kind: `${kind} in run`, object, path, body, refuses: ['SCOPE_CANCELLED'] },
        read: ({ id }) => ({ id }),
      });
    if (choice < 0.4) {
      const delay = load.chance.next() < 0.3 && { delaySeconds: 60 };
      await make('send', `/mailboxes/${mailboxId}/messages`, { scopeId: where, payload: { client }, ...delay });
    } else if (choice < 0.55) await this.#work(client, object, { access, mailboxId, scopeId: where });
    else if (choice < 0.65) await make('barrier', '/barriers', { scopeId: where, target: 2 });
    else if (choice < 0.75) {
      await make('group', '/task-groups', { parentScopeId: where, mailboxId, condition: 'ALL_TERMINAL' });
    } else if (choice < 0.85) {
      const waits = { scopeId: where, units: 1, holder: 'h', ttlSeconds: 3600 };
      await make('wait', `/allowances/${allowanceId}/wait`, waits);
    } else await load.call(client, access, { kind: 'stop', object, path: `/scopes/${scopeId}/cancel`, body: {} });
  }

  /** Completes a message in time, or too late: the run may have been stopped. */
  async #work(client: number, object: string, queue: Queue): Promise<void> {
    const claim = await this.load.claim(client, queue);
    if (!claim) return;
    await this.load.call(client, this.access, {
      ...{ kind: 'complete in run', object, path: `/messages/${claim.id}/complete` },
      ...{ body: { token: claim.token }, refuses: ['CLAIM_LOST'] },
    });
  }
}
