import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { sendMany, stepByStep, wideQueue } from './many.ts';
import type { Queue } from './queue.ts';

const messages = (...ids: string[]) => ids.map((messageId) => ({ messageId }));

/** How many dependents an end frees or cancels in its own step. */
const atOnce = 50;

describe('An end that many messages wait for', () => {
  let queue: Queue;
  beforeEach(async () => {
    queue = await wideQueue();
  });
  const count = async (name: string): Promise<number> => (await queue.record()).counts[name];
  const worked = () => workOff(queue.world);
  const end = async (how: 'complete' | 'nack', headers?: Record<string, string>): Promise<string> => {
    const { id, token } = await queue.claim();
    const body = how === 'nack' ? { token, retry: false } : { token };
    expect((await queue.world.post(`/messages/${id}/${how}`, body, headers)).status).to.equal(200);
    return id;
  };

  it('frees fifty at once and has workers free the rest, all in the order of sending', async () => {
    const first = await queue.sent();
    await sendMany(queue, 180, { prerequisites: `CANCEL m${first}` });
    const ids = (await queue.list('?state=BLOCKED&limit=200')).body.messages.map((one: { id: string }) => one.id);
    await end('complete');
    expect([await count('ready'), await count('blocked')]).to.deep.equal([atOnce, 180 - atOnce]);
    await expectAgreement(queue.world);
    const seen: string[] = [];
    for (let left = 180; left > 0; ) {
      const steps = await stepByStep(queue.world, () => count('blocked'), 1);
      const claims = (await queue.claim({ max: 100 })).messages as { id: string; token: string }[];
      seen.push(...claims.map(({ id }) => id));
      left -= claims.length;
      expect(steps.every(({ changed }) => changed <= atOnce)).to.equal(true);
    }
    expect(seen).to.deep.equal(ids);
    expect(await queue.world.service.store.keys(`${queue.world.prefix}:d*e*s*`), 'lists and decisions').to.deep.equal(
      [],
    );
  });

  it('decides about those that waited then, though the message is requeued before their turn', async () => {
    const first = await queue.sent();
    await sendMany(queue, 80, { prerequisites: `CANCEL m${first}` });
    const [runs, waits] = [
      await queue.sent({ after: messages(first), onFailure: 'RUN' }),
      await queue.sent({ after: messages(first), onFailure: 'WAIT' }),
    ];
    await end('nack', { 'X-Request-Id': 'the-end' });
    expect(await count('blocked')).to.equal(80 + 2 - atOnce);
    await queue.world.mustPost(`/messages/${first}/requeue`);
    const later = await queue.sent({ after: messages(first) });
    await worked();
    expect((await queue.list('?state=CANCELLED&limit=200')).body.messages).to.have.length(80);
    const { events } = (await queue.world.get('/watch?types=message.cancelled&limit=500')).body;
    expect(events.map((event: { requestId: string }) => event.requestId)).to.deep.equal(Array(80).fill('the-end'));
    const states = async () =>
      Promise.all([runs, waits, later].map(async (id) => (await queue.world.get(`/messages/${id}`)).body.state));
    expect(await states()).to.deep.equal(['READY', 'BLOCKED', 'BLOCKED']);
    await expectAgreement(queue.world);
    expect([await end('complete'), await end('complete')]).to.have.members([first, runs]);
    expect(await states()).to.deep.equal(['ACKED', 'READY', 'READY']);
    await expectAgreement(queue.world);
  });

  it('cancels a chain in bounded steps', async () => {
    let last = await queue.sent();
    for (let i = 0; i < 130; i++) last = await queue.sent({ after: messages(last) });
    await end('nack');
    expect(await count('blocked')).to.equal(130 - atOnce);
    await worked();
    expect(await count('blocked')).to.equal(0);
    expect((await queue.world.get(`/messages/${last}`)).body).to.include({
      state: 'CANCELLED',
      reason: 'PREREQUISITE_FAILED',
    });
    await expectAgreement(queue.world);
  });

  it('may be a member of a group; a cancel that decides groups stays bounded', async () => {
    const first = await queue.sent();
    const groups: string[] = [];
    for (let g = 0; g < 4; g++) {
      const { id } = await queue.world.mustPost('/task-groups', {
        mailboxId: queue.id,
        condition: 'N_ACCEPTED',
        threshold: 30,
      });
      groups.push(id);
      for (let k = 0; k < 30; k++)
        await queue.world.mustPost(`/task-groups/${id}/tasks`, {
          taskKey: `${k}`,
          ...(k === 0 && { after: messages(first) }),
        });
      await queue.world.mustPost(`/task-groups/${id}/seal`);
    }
    await end('nack');
    const decided = async () => (await queue.world.get('/task-groups?state=DECIDED')).body.groups.length;
    expect(await decided()).to.be.within(1, 2);
    await worked();
    expect(await decided()).to.equal(4);
    await expectAgreement(queue.world);
  });

  it('200 ends at once free each message once, whatever they are after', async () => {
    const scopeId = queue.scopeId;
    const ids = await Promise.all(Array.from({ length: 200 }, () => queue.sent()));
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) => queue.sent({ after: messages(...ids.slice(i * 5, i * 5 + 5)) })),
    );
    const last = await queue.sent({ after: messages(...all) });
    const claims: { id: string; token: string }[] = [];
    for (let i = 0; i < 2; i++) claims.push(...(await queue.claim({ max: 100, scopeId })).messages);
    await Promise.all(claims.map((claim) => queue.act('complete', claim)));
    await worked();
    expect([await count('ready'), await count('blocked')]).to.deep.equal([40, 1]);
    const next = (await queue.claim({ max: 100 })).messages as { id: string; token: string }[];
    await Promise.all(next.map((claim) => queue.act('complete', claim)));
    await worked();
    expect((await queue.claim()).id).to.equal(last);
    await expectAgreement(queue.world);
  });
});
