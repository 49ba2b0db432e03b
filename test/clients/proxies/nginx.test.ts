import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, type Muster } from 'muster-client';
import { World } from '../../support/world.ts';
import { type RunningProxy, startNginx } from './proxy.ts';

describe('nginx as it comes, in front of Muster', () => {
  let world: World;
  let proxy: RunningProxy;
  let muster: Muster;
  before(async () => {
    world = await World.create();
    proxy = await startNginx(`server { listen 127.0.0.1:PORT; location / { proxy_pass ${world.url}; } }`);
    muster = createMuster({ url: proxy.url, key: world.apiKey, spaceId: world.spaceId });
  });
  after(() => proxy.stop());

  it('passes each event of a stream on as it comes', async () => {
    const { body } = await world.get('/watch?cursor=latest&limit=1');
    const events = muster.events({ cursor: body.nextCursor })[Symbol.asyncIterator]();
    for (const name of ['first', 'second']) {
      const next = events.next();
      const { id } = await world.mustPost('/mailboxes', { name });
      const { value } = await next;
      expect([value?.type, value?.aggregateId]).to.deep.equal(['mailbox.created', id]);
    }
    await events.return?.();
  });

  it('passes a held receive on', async () => {
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'held' });
    const held = muster.message.recv({ mailboxId, scopeId: '*', waitSeconds: 30, holder: 'a', holderSession: 'a' });
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: 1 });
    expect((await held)?.payload).to.equal(1);
  });
});
