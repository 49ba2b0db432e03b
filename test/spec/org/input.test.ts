import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as admin from '../../../src/primitives/org/admin.ts';
import { emptyStore } from '../../redis/empty-store.ts';
import { type OwnStore, rejectionOf } from '../../support/own-store.ts';

describe('Operator input', () => {
  let store: OwnStore;
  let to: admin.Admin;
  before(async () => {
    store = await emptyStore();
    to = await store.admin();
    await admin.createOrganization(to, { org: 'acme', plan: 'team' });
  });

  it("an operator's input is checked everywhere it is accepted, and cannot contain a line feed", async () => {
    const permissions = ['coordination_read'];
    const named = (name: string) => [
      () => admin.createSpace(to, { org: 'acme', name }),
      () => admin.createKey(to, { org: 'acme', name, permissions }),
    ];
    const of = (org: string) => [
      () => admin.createOrganization(to, { org, plan: 'free' }),
      () => admin.setPlan(to, { org, plan: 'free' }),
      () => admin.showOrganization(to, org),
      () => admin.createSpace(to, { org }),
      () => admin.listSpaces(to, org),
      () => admin.createKey(to, { org, permissions }),
      () => admin.listKeys(to, org),
      () => admin.revokeKey(to, org, randomUUID()),
      () => admin.listAudit(to, org),
    ];
    const page = (limit: number, cursor?: string) => () =>
      admin.listAudit(to, 'acme', { limit, ...(cursor !== undefined && { cursor }) });
    const bad = [
      ...['', 'x'.repeat(201), 'a\nb'].flatMap(named),
      ...['ab', 'a'.repeat(41), 'a}b', 'Abc', 'abc\n'].flatMap(of),
      ...[0, 1.5, 1001].map((limit) => page(limit)),
    ];
    const keys = async () => (await to.store.keys('*')).sort();
    const before = await keys();
    for (const call of bad) expect(await rejectionOf(call()), String(call)).to.equal('VALIDATION_FAILED');
    expect(await keys()).to.deep.equal(before);
    expect(await to.store.smembers('muster:orgs')).to.deep.equal(['acme']);
    expect(await to.store.get('muster:format')).to.equal('3');
    for (const cursor of ['x', '1', '99999999999999999-0', '1-0\n'])
      expect(await rejectionOf(page(1, cursor)()), cursor).to.equal('INVALID_CURSOR');
    for (const call of [
      ...named('😀'.repeat(200)),
      ...named('{"team":"*"}'),
      page(1),
      page(1000, '9999999999999999-0'),
    ])
      await call();
    const long = `b-${'2'.repeat(38)}`;
    expect((await admin.createOrganization(to, { org: long, plan: 'free' })).org).to.equal(long);
    const refusal = await admin.showOrganization(to, 'A'.repeat(1000)).catch(String);
    expect(refusal).to.have.length.below(200);
  });
});
