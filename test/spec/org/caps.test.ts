import { expect } from 'chai';
import { envelope } from '../../../src/cli/errors.ts';
import * as admin from '../../../src/primitives/org/admin.ts';
import { emptyStore } from '../../redis/empty-store.ts';
import { type OwnStore, rejectionOf } from '../../support/own-store.ts';

describe('Plan caps', () => {
  let store: OwnStore;
  let to: admin.Admin;
  before(async () => {
    store = await emptyStore();
    to = await store.admin();
  });

  const key = (org: string, more: Partial<admin.NewKey> = {}) =>
    admin.createKey(to, { org, permissions: ['coordination_read'], ...more });

  it('let exactly 2 of 20 parallel space creates succeed on the free plan, over 20 connections', async () => {
    await admin.createOrganization(to, { org: 'parallel', plan: 'free' });
    const processes = await Promise.all(Array.from({ length: 20 }, () => store.admin()));
    const results = await Promise.allSettled(processes.map((one) => admin.createSpace(one, { org: 'parallel' })));
    const refused = results.filter((result) => result.status === 'rejected').map((result) => result.reason.code);
    expect(refused).to.deep.equal(Array(18).fill('ENTITLEMENT_EXCEEDED'));
    expect(await admin.listSpaces(to, 'parallel')).to.have.length(2);
    expect((await admin.showOrganization(to, 'parallel')).usage.spaces).to.equal(2);
  });

  it('do not apply to a plan with unlimited spaces, which lists them all, oldest first', async () => {
    await admin.createOrganization(to, { org: 'many', plan: 'team' });
    const creates = [];
    for (let i = 0; i < 210; i += 1) creates.push(admin.createSpace(to, { org: 'many', name: `s${i}` }));
    const ids = (await Promise.all(creates)).map((space) => space.spaceId).sort();
    expect((await admin.listSpaces(to, 'many')).map((space) => space.spaceId)).to.deep.equal(ids);
  });

  it('count only keys that are not revoked: the 11th on the free plan is refused until one is revoked', async () => {
    await admin.createOrganization(to, { org: 'keys', plan: 'free' });
    const created = await Promise.all(Array.from({ length: 10 }, () => key('keys')));
    expect(await rejectionOf(key('keys'))).to.equal('ENTITLEMENT_EXCEEDED');
    expect(await key('keys').catch(envelope)).to.match(
      /the free plan allows 10 keys, and all are in use: revoke a key, or/,
    );
    await admin.revokeKey(to, 'keys', created[0]?.keyId ?? '');
    await key('keys');
    expect(await rejectionOf(key('keys'))).to.equal('ENTITLEMENT_EXCEEDED');
    expect(await admin.listKeys(to, 'keys')).to.have.length(11);
  });

  it('change nothing when a key is revoked a second time', async () => {
    await admin.createOrganization(to, { org: 'twice', plan: 'free' });
    const { keyId } = await key('twice');
    const first = await admin.revokeKey(to, 'twice', keyId.toUpperCase());
    expect(first.revokedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await admin.revokeKey(to, 'twice', keyId)).to.deep.equal(first);
    expect((await admin.showOrganization(to, 'twice')).usage.keys).to.equal(0);
    const { entries, nextCursor } = await admin.listAudit(to, 'twice', { limit: 3 });
    expect(entries.map(({ action }) => action)).to.deep.equal(['key.revoked', 'key.created', 'org.created']);
    expect([entries[0]?.at, nextCursor]).to.deep.equal([first.revokedAt, null]);
    await to.store.xadd('muster:{twice}:audit', '*', 'action', 'by hand', 'detail', 'no JSON');
    const byHand = { action: 'by hand', actor: '', target: '', detail: 'no JSON' };
    expect((await admin.listAudit(to, 'twice', { limit: 1 })).entries[0]).to.include(byHand);
  });

  it('remove nothing on a smaller plan: what is in use stays, and nothing more can be created', async () => {
    await admin.createOrganization(to, { org: 'shrinks', plan: 'builder' });
    for (let i = 0; i < 3; i += 1) await admin.createSpace(to, { org: 'shrinks' });
    const after = await admin.setPlan(to, { org: 'shrinks', plan: 'free' });
    expect(after).to.deep.include({ plan: 'free' });
    const [entry] = (await admin.listAudit(to, 'shrinks', { limit: 1 })).entries;
    expect(entry).to.include({ action: 'org.plan_set', actor: 'cli', target: 'shrinks' });
    expect([after.figures.spaces, after.usage.spaces]).to.deep.equal([2, 3]);
    expect(await rejectionOf(admin.createSpace(to, { org: 'shrinks' }))).to.equal('ENTITLEMENT_EXCEEDED');
    expect(await admin.listSpaces(to, 'shrinks')).to.have.length(3);
  });

  it('are changed only for an organization that exists: another is ORG_NOT_FOUND and nothing is written', async () => {
    const before = (await to.store.keys('*')).sort();
    expect(await rejectionOf(admin.setPlan(to, { org: 'nobody', plan: 'free' }))).to.equal('ORG_NOT_FOUND');
    expect((await to.store.keys('*')).sort()).to.deep.equal(before);
  });

  it('skip an organization that is listed but was never written, and let it still be created', async () => {
    await to.store.sadd('muster:orgs', 'half-made');
    const names = async () => (await admin.listOrganizations(to)).map((organization) => organization.org);
    expect(await names())
      .to.deep.equal([...(await names())].sort())
      .and.not.to.include('half-made');
    await admin.createOrganization(to, { org: 'half-made', plan: 'free' });
    expect(await names()).to.include('half-made');
    expect(await rejectionOf(admin.createOrganization(to, { org: 'half-made', plan: 'team' }))).to.equal('ORG_EXISTS');
  });
});
