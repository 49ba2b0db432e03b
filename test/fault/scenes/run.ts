import type { Access } from '../../support/processes.ts';
import { Shared } from './scene.ts';

/** A run that somebody stops while others still work in it. */
export interface StoppedRun {
  readonly access: Access;
  readonly scopeId: string;
  readonly childId: string;
  readonly mailboxId: string;
}

/** Messages and barriers in a scope and in one below it, until the run is stopped. */
export class RunScene extends Shared<StoppedRun> {
  protected async make(client: number): Promise<StoppedRun | undefined> {
    const { load, access } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'stopped' });
    const scopeId = await this.create(client, 'scope', '/scopes', { name: 'run' });
    const childId = await this.create(client, 'scope', '/scopes', { parentScopeId: scopeId, name: 'below' });
    if (mailboxId === undefined || scopeId === undefined || childId === undefined) return undefined;
    const run = { access, scopeId, childId, mailboxId };
    load.runs.push(run);
    return run;
  }

  protected async use(client: number, { scopeId, childId, mailboxId }: StoppedRun): Promise<void> {
    const { load, access } = this;
    const object = `run ${scopeId}`;
    const choice = load.chance.next();
    const where = load.chance.next() < 0.5 ? scopeId : childId;
    const refuses = ['SCOPE_CANCELLED'];
    if (choice < 0.6) {
      const body = { scopeId: where, payload: { client } };
      await load.call(client, access, {
        ...{ kind: 'send in run', object, path: `/mailboxes/${mailboxId}/messages`, body, refuses },
      });
    } else if (choice < 0.85) {
      const body = { scopeId: where, target: 2 };
      await load.call(client, access, { kind: 'barrier in run', object, path: '/barriers', body, refuses });
    } else await load.call(client, access, { kind: 'stop', object, path: `/scopes/${scopeId}/cancel`, body: {} });
  }
}
