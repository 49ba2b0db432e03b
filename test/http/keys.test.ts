import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { addressOf } from '../../src/engine/redis/cluster.ts';
import { Aging, day } from '../spec/retention/support.ts';
import type { World } from '../support/world.ts';

/**
 * Keys and names as callers may choose them: JSON, quotes, patterns, hash tags, binary-looking text, other alphabets.
 */
const texts = [
  '{"order":42}',
  '{',
  '}',
  '{t}',
  '{other-org}:1:messages',
  `a{b}c" 'd' \`e\``,
  '[a-z]?*\\',
  '👩‍👩‍👧 ключ 鍵 \u202e\ufeff',
  '%s %d%% %c $1 $& \\0 \\x00',
  'ÿþ\u{10ffff}\ufffd',
  ' a  b ~ = , . | -inf (1 + ',
];

const scopeId = randomUUID();
const holds = { scopeId, holder: 'h', holderSession: 's' };

/** The names of all keys of an organization. */
async function keysOf({ service: { store }, org }: World): Promise<string[]> {
  const slot = Number(await store.call('CLUSTER', 'KEYSLOT', `muster:{${org}}`));
  expect(addressOf(store, `muster:{${org}}`), 'the store is a cluster').not.to.equal('');
  return (await store.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '100000')) as string[];
}

describe('Keys and names that callers choose', () => {
  const each = async (use: (text: string, index: number) => Promise<void>): Promise<void> => {
    for (const [index, text] of texts.entries())
      await use(text, index).catch((error) => {
        throw new Error(`${JSON.stringify(text)}: ${error.message}`);
      });
  };

  it('may be any text without control characters, is returned as sent, and is not part of any Redis key', async () => {
    const aging = await Aging.begin({ plan: 'enterprise' });
    const { world } = aging;
    const before = new Set(await keysOf(world));
    const jobs = await world.mustPost('/mailboxes', { name: 'jobs' });
    const results = await world.mustPost('/mailboxes', { name: 'results' });
    const sendTo = (mailbox: { id: string }) => `/mailboxes/${mailbox.id}/messages`;

    await each(async (name) => {
      expect((await world.mustPost('/mailboxes', { name, recipientId: name })).name).to.equal(name);
      const budget = { name, currency: 'EUR', scale: 2, limitMinor: '1' };
      expect((await world.mustPost('/budgets', budget)).name).to.equal(name);
      expect((await world.post('/budgets', budget)).body.error.code).to.equal('BUDGET_EXISTS');
      const allowance = { name, unitsLimit: 9, windowSeconds: 60 };
      expect((await world.mustPost('/allowances', allowance)).name).to.equal(name);
      expect((await world.post('/allowances', allowance)).body.error.code).to.equal('ALLOWANCE_EXISTS');
    });

    await each(async (workKey) => {
      const { id } = await world.mustPost(sendTo(jobs), { scopeId, payload: workKey, workKey });
      expect(await world.mustPost(sendTo(jobs), { scopeId, payload: 1, workKey })).to.include({ id, replay: true });
      const found = await world.get(`${sendTo(jobs)}?workKey=${encodeURIComponent(workKey)}`);
      expect(found.body.messages).to.have.length(1);
      expect(found.body.messages[0]).to.include({ id, workKey, payload: workKey });
      const claim = await world.mustPost(`/mailboxes/${jobs.id}/recv`, {
        ...holds,
        holder: workKey,
        holderSession: workKey,
      });
      expect(claim).to.include({ id, holder: workKey, holderSession: workKey });
      const result = { payload: 1, mailboxId: results.id, scopeId, workKey };
      const { resultMessageId } = await world.mustPost(`/messages/${id}/complete`, { token: claim.token, result });
      expect((await world.mustPost(sendTo(results), { scopeId, payload: 1, workKey })).id).to.equal(resultMessageId);
    });

    const budget = await world.mustPost('/budgets', { name: 'spend', currency: 'EUR', scale: 2, limitMinor: '1000' });
    const { id: reservationId } = await world.mustPost(`/budgets/${budget.id}/reserve`, {
      scopeId,
      holder: 'h',
      amountMinor: '99',
    });
    await each(async (workKey) => {
      const settle = { reservationId, amountMinor: '1', workKey };
      const first = await world.mustPost(`/budgets/${budget.id}/settle`, settle);
      expect(first.entry.workKey).to.equal(workKey);
      expect(await world.mustPost(`/budgets/${budget.id}/settle`, settle)).to.deep.include({
        entry: first.entry,
        replay: true,
      });
      const other = await world.mustPost(`/budgets/${budget.id}/reserve`, {
        scopeId,
        holder: workKey,
        amountMinor: '1',
      });
      const release = { reservationId: other.id, workKey };
      const voided = await world.mustPost(`/budgets/${budget.id}/void`, release);
      expect(voided.reservation).to.include({ state: 'VOIDED', holder: workKey });
      expect(await world.mustPost(`/budgets/${budget.id}/void`, release)).to.deep.include({
        entry: voided.entry,
        replay: true,
      });
    });
    await world.mustPost(`/budgets/${budget.id}/void`, { reservationId, workKey: 'the rest' });

    const allowance = await world.mustPost('/allowances', {
      name: 'calls',
      unitsLimit: 1000,
      windowSeconds: 31_536_000,
    });
    await each(async (workKey) => {
      const one = { scopeId, holder: workKey, units: 1, workKey };
      const { id } = await world.mustPost(`/allowances/${allowance.id}/consume`, one);
      expect(await world.mustPost(`/allowances/${allowance.id}/consume`, one)).to.include({
        id,
        holder: workKey,
        replay: true,
      });
      const { id: waiterId } = await world.mustPost(`/allowances/${allowance.id}/wait`, {
        scopeId,
        holder: workKey,
        units: 1,
      });
      expect((await world.get(`/allowance-waiters/${waiterId}`)).body.holder).to.equal(workKey);
    });
    await each(async (reason, index) => {
      const cooldown = await world.mustPost(`/allowances/${allowance.id}/cooldown`, { seconds: index + 1, reason });
      expect(cooldown.reason).to.equal(reason);
    });

    const group = await world.mustPost('/task-groups', { mailboxId: jobs.id, condition: 'ALL_TERMINAL' });
    const barrier = await world.mustPost('/barriers', { scopeId, target: texts.length });
    await each(async (text, index) => {
      await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: text, input: text });
      const again = await world.post(`/task-groups/${group.id}/tasks`, { taskKey: text });
      expect(again.body.error.code).to.equal('TASK_KEY_CONFLICT');
      for (const _ of [1, 2]) {
        const { arrivals } = await world.mustPost(`/barriers/${barrier.id}/arrive`, { arrivalKey: text });
        expect(arrivals).to.equal(index + 1);
      }
    });
    const { members } = (await world.get(`/task-groups/${group.id}`)).body;
    expect(members.map(({ taskKey }: { taskKey: string }) => taskKey)).to.deep.equal(texts);
    expect((await world.get(`/barriers/${barrier.id}`)).body.state).to.equal('RELEASED');

    // None is part of a key's name, so a hash tag in it cannot move a record to another slot.
    const added = (await keysOf(world)).filter((key) => !before.has(key));
    expect(added).to.have.length.above(100);
    const form = new RegExp(`^muster:\\{${world.org}\\}[\\w:-]*$`);
    for (const key of added) expect(key).to.match(form);

    // Retention finds them again: workKeys are removed with their records. Nobody has received the results.
    for (const days of [366, 401]) await aging.sweepAt(days * day);
    const left = (await keysOf(world)).filter((key) => /:workKeys(:|$)/.test(key));
    expect(left).to.deep.equal([`${world.prefix}:mailbox:${results.id}:workKeys`]);
  });
});
