import { expect } from 'chai';
import { call, insist, until } from '../../support/processes.ts';
import { Killing } from './killing.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const holder = { scopeId, holder: 'a', holderSession: 's' };

describe('kill -9 of processes under load', () => {
  let kill: Killing;
  before(async () => {
    kill = await Killing.create();
  });
  after(() => kill.end());

  it('no message is lost under load, and none is acknowledged twice', async () => {
    const total = 400;
    let serving = await kill.start();
    const url = (): string => serving.url;
    const mailbox = (await call(url(), kill.access, '/mailboxes', { name: 'load', backlogLimit: 50_000 })).body.id;
    const sent = new Map<string, number>();
    const tokens = new Map<string, string[]>();
    let next = 0;
    const senders = Array.from({ length: 8 }, async () => {
      while (next < total) {
        const n = next++;
        const { body } = await insist(url, kill.access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: n });
        sent.set(body.id, n);
      }
    });
    const receivers = Array.from({ length: 8 }, async () => {
      while (tokens.size < total) {
        // A lost reply leaves a claim, which lapses.
        const { status, body } = await insist(url, kill.access, `/mailboxes/${mailbox}/recv`, {
          ...holder,
          leaseSeconds: 5,
          waitSeconds: 1,
        });
        if (status !== 200) continue;
        const done = await insist(url, kill.access, `/messages/${body.id}/complete`, { token: body.token });
        if (done.status === 200) tokens.set(body.id, [...(tokens.get(body.id) ?? []), body.token]);
        else expect(done.body.error.code).to.equal('CLAIM_LOST');
      }
    });
    for (const share of [0.3, 0.6]) {
      const successor = kill.start();
      await until(() => tokens.size >= total * share);
      const [old, heir] = [serving, await successor];
      const died = old.end('SIGKILL');
      serving = heir;
      await died;
    }
    await Promise.all([...senders, ...receivers]);

    expect(sent.size).to.equal(total);
    expect([...tokens.keys()].sort()).to.deep.equal([...sent.keys()].sort());
    for (const given of tokens.values()) expect(given).to.have.length(1);
    const { body } = await call(url(), kill.access, `/mailboxes`);
    const counts = body.mailboxes.find(({ id }: { id: string }) => id === mailbox).counts;
    expect(counts).to.deep.equal({ ready: 0, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: total });
  });
});
