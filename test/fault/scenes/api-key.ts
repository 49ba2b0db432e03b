import { randomUUID } from 'node:crypto';
import { Shared } from './scene.ts';

interface Pass {
  readonly id: string;
  readonly apiKey: string;
  isRevoked: boolean;
  /** The moment from which it is known to be refused. */
  revokedAt: number;
}

/** A key that expires, made over the API and used until a client revokes it. From then on it is refused. */
export class PassScene extends Shared<Pass> {
  protected async make(client: number): Promise<Pass | undefined> {
    const body = { name: randomUUID(), permissions: ['coordination_read'], expiresInDays: 1 };
    const made = { kind: 'create key', object: ({ id }: { id: string }) => `key ${id}`, path: '/v1/keys', body };
    const { body: key } = await this.load.call(client, this.access, made);
    // The answer to a repeated call does not show the key again.
    if (!key.apiKey) return undefined;
    return { id: key.id, apiKey: key.apiKey, isRevoked: false, revokedAt: Number.POSITIVE_INFINITY };
  }

  protected async use(client: number, pass: Pass): Promise<void> {
    const { load, access } = this;
    const { chance } = load;
    if (chance.next() < 0.1) {
      pass.isRevoked = true;
      await load.call(client, access, {
        ...{ kind: 'revoke key', object: `key ${pass.id}`, path: `/v1/keys/${pass.id}`, body: {}, method: 'DELETE' },
      });
      pass.revokedAt = Math.min(pass.revokedAt, performance.now());
      return;
    }
    const askedAt = performance.now();
    const { status } = await load.call(
      client,
      { ...access, apiKey: pass.apiKey },
      {
        ...{ kind: 'read', object: `key ${pass.id}`, path: chance.of(['/census', '/figures']), body: undefined },
        refuses: ['INVALID_API_KEY'],
      },
    );
    if (status === 200 && askedAt > pass.revokedAt) load.unexpected.push(`the revoked key ${pass.id} was let in`);
    if (status === 401 && !pass.isRevoked) load.unexpected.push(`the key ${pass.id} was refused`);
    if (status === 401) pass.revokedAt = Math.min(pass.revokedAt, performance.now());
  }
}
