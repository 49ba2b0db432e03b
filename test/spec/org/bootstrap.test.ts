import { expect } from 'chai';
import type { Scripts } from '../../../src/engine/redis/scripts.ts';
import { apiKeyDigest } from '../../../src/engine/route/caller.ts';
import * as admin from '../../../src/primitives/org/admin.ts';
import { bootstrap } from '../../../src/primitives/org/bootstrap.ts';
import { emptyStore } from '../../redis/empty-store.ts';
import { maximumLimits } from '../../support/limits.ts';
import type { OwnStore } from '../../support/own-store.ts';

const url = 'http://127.0.0.1:8080';

describe('The first start on an embedded store', () => {
  let store: OwnStore;
  let to: admin.Admin;
  before(async () => {
    store = await emptyStore();
    to = await store.admin();
  });
  beforeEach(() => to.store.flushall());

  it('creates dev (enterprise, unlimited), a space at maximum limits and a key, and prints what to paste', async () => {
    const lines = await bootstrap(to, url);
    const [space] = await admin.listSpaces(to, 'dev');
    expect(lines[0]).to.equal(`export MUSTER_URL=${url}`);
    expect(lines[1]).to.equal(`export MUSTER_SPACE=${space?.spaceId}`);
    expect(lines[2]).to.match(/^export MUSTER_KEY=mk_dev_[0-9A-Za-z]{43}$/);
    expect(lines[3]).to.equal(`# console: ${url}/console#/space/${space?.spaceId}`);
    expect(lines).to.have.length(4);
    const dev = await admin.showOrganization(to, 'dev');
    expect([dev.plan, ...Object.values(dev.figures)]).to.deep.equal([
      'enterprise',
      ...Array(7).fill('unlimited'),
      365,
      'unlimited',
    ]);
    const limits = await to.store.hgetall(`muster:{dev}:${space?.spaceId}`);
    expect(limits).to.include(
      Object.fromEntries(
        Object.entries(maximumLimits).flatMap(([name, max]) => (max === null ? [] : [[name, String(max)]])),
      ),
    );
    expect(limits).not.to.have.property('maxRetainedBytes');
    const digest = apiKeyDigest(lines[2]?.split('=')[1] ?? '');
    expect(await to.store.hget(`muster:{dev}:key:${digest}`, 'permissions')).to.equal(
      'coordination_read,coordination_write,resource_config,resource_spend,key_admin',
    );
  });

  it('creates them only once: later starts print URL, space and how to make another key, and change nothing', async () => {
    const [, space, , console] = await bootstrap(to, url);
    const [oldest] = await admin.listSpaces(to, 'dev');
    await admin.createSpace(to, { org: 'dev' });
    expect(await admin.createSpace(to, { org: 'dev', first: true })).to.deep.equal(oldest);
    const before = await to.store.hgetall('muster:{dev}');
    const command =
      'muster key create --org dev --permissions coordination_read,coordination_write,resource_config,resource_spend,key_admin';
    expect(await bootstrap(to, url)).to.deep.equal([
      `export MUSTER_URL=${url}`,
      space,
      `# another key: ${command}`,
      console,
    ]);
    await admin.createOrganization(to, { org: 'acme', plan: 'free' });
    expect(await bootstrap(to, url)).to.have.length(4);
    expect(await to.store.hgetall('muster:{dev}')).to.deep.equal(before);
  });

  it('creates no new key if the only one was revoked on purpose', async () => {
    await bootstrap(to, url);
    const [key] = await admin.listKeys(to, 'dev');
    await admin.revokeKey(to, 'dev', key?.keyId ?? '');
    expect((await bootstrap(to, url)).join()).not.to.include('MUSTER_KEY');
  });

  for (const step of ['org/create', 'space/create', 'org/createKey']) {
    for (const when of ['before', 'after']) {
      if (step === 'org/createKey' && when === 'after') continue;
      it(`is completed by the next one if killed ${when} ${step}`, async () => {
        const killed = { ...to, scripts: dyingAt(to.scripts, step, when) };
        const error = await bootstrap(killed, url).catch(String);
        expect(error).to.equal('Error: killed');
        expect((await bootstrap(to, url))[2]).to.match(/^export MUSTER_KEY=/);
        expect(await admin.listSpaces(to, 'dev')).to.have.length(1);
      });
    }
  }

  it('creates one space and one key if 8 processes start at once, and one of them prints it', async () => {
    const processes = await Promise.all(Array.from({ length: 8 }, () => store.admin()));
    const printed = await Promise.all(processes.map((one) => bootstrap(one, url)));
    expect(printed.filter((lines) => lines.join().includes('MUSTER_KEY'))).to.have.length(1);
    expect(new Set(printed.map((lines) => lines[1])).size).to.equal(1);
    expect(await admin.listSpaces(to, 'dev')).to.have.length(1);
    expect(await admin.listKeys(to, 'dev')).to.have.length(1);
  });

  it('leaves a store with other organizations as it is', async () => {
    await admin.createOrganization(to, { org: 'acme', plan: 'free' });
    expect(await bootstrap(to, url)).to.deep.equal([`export MUSTER_URL=${url}`]);
    expect((await admin.listOrganizations(to)).map((organization) => organization.org)).to.deep.equal(['acme']);
    await admin.createOrganization(to, { org: 'dev', plan: 'team' });
    expect(await bootstrap(to, url)).to.deep.equal([`export MUSTER_URL=${url}`]);
    await admin.createKey(to, { org: 'dev', permissions: ['coordination_read'] });
    expect((await bootstrap(to, url))[1]).to.match(/^# another key: /);
  });
});

/** Scripts of a process that is killed before or after it runs one of them. */
function dyingAt(scripts: Scripts, step: string, when: string): Scripts {
  const ask: Scripts['ask'] = async (call, org, args) => {
    if (call.script === step && when === 'before') throw new Error('killed');
    const reply = await scripts.ask(call, org, args);
    if (call.script === step) throw new Error('killed');
    return reply;
  };
  return { ask } as Scripts;
}
