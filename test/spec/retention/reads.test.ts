import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from './support.ts';

describe('retention under reads', () => {
  it('never shows a half-removed record: every list and view is complete between any two steps', async () => {
    const aging = await Aging.begin({ plan: 'enterprise', figures: { retentionDays: '7' } });
    const { traffic, world } = aging;
    const deadline = new Date(aging.start + 3_600_000).toISOString();
    for (let round = 0; round < 2; round++) {
      await aging.sweepAt(round * 700_000);
      await Promise.all([traffic.messages(deadline), traffic.group(), traffic.barrier(), traffic.units()]);
      await traffic.reservation(deadline);
    }
    await aging.sweepAt(7_200_000);
    const [{ id: budget }] = (await aging.body('/budgets')).budgets;
    const groups = (await aging.body('/task-groups')).groups.map((group: { id: string }) => group.id);
    const paths = [
      ...[traffic.work, traffic.inbox].map((id) => `/mailboxes/${id}/messages?limit=200`),
      ...groups.map((id: string) => `/task-groups/${id}`),
      ...traffic.scopes.map((id) => `/ops/runs/${id}`),
      ...[
        '/task-groups',
        '/barriers',
        '/events?limit=500',
        `/budgets/${budget}`,
        '/census',
        '/backlog',
        '/ops/waits',
        '/usage',
      ],
    ];
    const step = { requestId: '', maxRecords: 1 };
    const { scripts } = world.service;
    for (const days of [7, 7.1, 30, 30.1, 37, 37.1, 400, 400.1]) {
      await aging.at(days * day);
      for (let more: unknown = 1, steps = 0; more === 1; steps++) {
        const [inSpace] = await scripts.execute('retention/space', world.org, {
          ...step,
          spaceId: world.spaceId,
          opened: '',
        });
        const [inOrg] = await scripts.execute('retention/records', world.org, { ...step, spaceId: '' });
        more = inSpace === 1 || inOrg === 1 ? 1 : 0;
        // World checks every reply against its published schema.
        const path = paths[steps % paths.length] ?? '';
        expect([path, (await world.get(path)).status]).to.be.deep.oneOf([
          [path, 200],
          [path, 404],
        ]);
        if (steps % 40 === 0) await expectAgreement(world);
      }
    }
    const left = await Promise.all(traffic.scopes.map(async (id) => (await world.get(`/ops/runs/${id}`)).status));
    expect(new Set(left)).to.deep.equal(new Set([404]));
    const { scopes, tasks } = await aging.body('/census');
    expect([scopes.IDLE, tasks.SUCCEEDED]).to.deep.equal([0, 0]);
  });

  it('leaves nothing behind of a space whose records have all been removed', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    const deadline = new Date(aging.start + 3_600_000).toISOString();
    await Promise.all([
      traffic.messages(deadline),
      traffic.group(),
      traffic.barrier(),
      traffic.units(),
      traffic.reservation(deadline),
    ]);
    await aging.sweepAt(7_200_000);
    await aging.sweepAt(900 * day);
    const { prefix } = world;
    const keys = await world.service.store.keys(`${prefix}:*`);
    const kinds = keys.map((key) => key.slice(prefix.length + 1).split(':')[0]);
    // Mailboxes, budget and allowance are never removed, nor are figures and the empty journal, which keeps its last id.
    expect(kinds.sort()).to.deep.equal(
      [
        'allowance',
        'allowanceNames',
        'allowances',
        'budget',
        'budgetNames',
        'budgets',
        'events',
        'figures',
        // Two, with their figures.
        'mailbox',
        'mailbox',
        'mailbox',
        'mailbox',
        'mailboxNames',
        'mailboxes',
      ].sort(),
    );
    for (const list of ['finished', 'closed', 'timers']) {
      expect([list, await world.service.store.exists(`muster:{${world.org}}:${list}`)]).to.deep.equal([list, 0]);
    }
  });
});
