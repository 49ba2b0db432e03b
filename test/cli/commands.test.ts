import { expect } from 'chai';
import { invocation } from '../../src/package.ts';
import { failure, muster, record } from '../support/cli.ts';
import { OwnStore } from '../support/own-store.ts';

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("The operator's commands", () => {
  let store: OwnStore;
  let settings: Record<string, string>;
  before(async () => {
    store = await OwnStore.start();
    settings = { REDIS_URL: store.url };
  });
  after(() => store.stop());
  const run = (line: string) => record(line.split(' '), settings);

  it('org create creates an organization on the free plan; org show and org list show it', async () => {
    const created = await run('org create acme');
    expect(created).to.include({ org: 'acme', plan: 'free' });
    expect(created.createdAt).to.match(moment);
    expect(created.figures).to.include({
      operations: 100_000,
      agents: 10,
      spaces: 2,
      keys: 10,
      rpm: 600,
      retentionDays: 7,
    });
    expect(created.usage).to.deep.equal({ operations: 0, agents: 0, spaces: 0, runs: 0, tasks: 0, keys: 0, rpm: 0 });
    expect(await run('org show acme')).to.deep.equal(created);
    expect(await run('org list')).to.deep.equal({ organizations: [created], nextCursor: null });
  });

  it('org set-plan changes plan and figures; only enterprise accepts its own figures', async () => {
    const created = await run(
      'org set-plan acme --plan enterprise --agents 20 --retention-days 180 --spaces unlimited --keys 3 --runs 6 --operations 7 --tasks 8',
    );
    expect(created).to.include({ org: 'acme', plan: 'enterprise' });
    expect(created.figures).to.include({ runs: 6, operations: 7, tasks: 8 });
    expect(created.figures).to.include({
      agents: 20,
      retentionDays: 180,
      spaces: 'unlimited',
      keys: 3,
      rpm: 'unlimited',
    });
    expect(created.usage.rpm, 'not counted').to.equal(null);
    expect(await run('org show acme')).to.deep.equal(created);
  });

  it('space create and space list create and show spaces', async () => {
    const created = await record(['space', 'create', '--org', 'acme', '--name', 'Größe "1"'], settings);
    expect(created).to.include({ org: 'acme', name: 'Größe "1"' });
    expect(created.spaceId).to.match(uuid7);
    expect(created.limits).to.include({ requestsPerMinute: 600, maxBacklog: 1000 });
    const raised = await run(created.raiseLimitsWith.replace(`${invocation} `, ''));
    expect(raised).to.include({ spaceId: created.spaceId, requestsPerMinute: 100_000 });
    const other = await run('space create --org acme');
    const spaces = [created, other].map(({ limits: _, raiseLimitsWith: __, ...space }) => space);
    expect(await run('space list --org acme')).to.deep.equal({ spaces, nextCursor: null });
  });

  it('space limits shows and sets limits, writes an audit entry and emits limits.updated', async () => {
    const { spaceId } = await run('space create --org acme --name limited');
    const limits = `space limits ${spaceId} --org acme`;
    const before = await run(limits);
    expect(before).to.include({ spaceId, org: 'acme', requestsPerMinute: 600, maxLeaseSeconds: 600 });
    const changed = { ...before, requestsPerMinute: 1200, maxBacklog: 17 };
    expect(await run(`${limits} --requests-per-minute 1200 --max-backlog 17`)).to.deep.equal(changed);
    expect(await run(`${limits} --max-backlog 17`)).to.deep.equal(changed);
    expect(await run(`${limits} --requests-per-minute default --max-backlog default`)).to.deep.equal(before);
    const { entries } = await run('audit list --org acme --limit 3');
    expect(entries.map(({ action, actor, target }: Record<string, string>) => [action, actor, target])).to.deep.equal([
      ['limits.updated', 'cli', spaceId],
      ['limits.updated', 'cli', spaceId],
      ['space.created', 'cli', spaceId],
    ]);
    const { store: redis } = await store.admin();
    const number = await redis.hget(`muster:{acme}:${spaceId}`, 'number');
    const journal = await redis.xrange(`muster:{acme}:${number}:events`, '-', '+');
    expect(journal.map(([, fields]) => fields[0])).to.deep.equal(['limits.updated', 'limits.updated']);
    const refusals = [
      [`${limits} --max-backlog 0`, 'VALIDATION_FAILED', /^maxBacklog: "0" must be default, or a whole number from 1 /],
      [
        `${limits} --max-payload-bytes 65537`,
        'ENTITLEMENT_EXCEEDED',
        /^maxPayloadBytes must not exceed the plan's 65536/,
      ],
      [`${limits} --requests-per-minute 100001`, 'VALIDATION_FAILED', /^requestsPerMinute must be .* to 100000$/],
      [`space limits ${spaceId} --org none`, 'ORG_NOT_FOUND', /org list/],
      ['space limits 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e --org acme', 'SPACE_NOT_FOUND', /space list/],
      ['space limits x --org acme', 'VALIDATION_FAILED', /^spaceId: /],
    ] as const;
    const refused = await Promise.all(refusals.map(([line]) => failure(line.split(' '), settings)));
    for (const [i, [line, code, message]] of refusals.entries()) {
      expect([line, refused[i]?.code]).to.deep.equal([line, code]);
      expect(refused[i]?.message).to.match(message);
    }
  });

  it('key create shows the key once; key list and key revoke never do', async () => {
    const permissions = 'resource_config, coordination_read';
    const created = await record(
      ['key', 'create', '--org', 'acme', '--name', 'ci', '--permissions', permissions],
      settings,
    );
    expect(created.apiKey).to.match(/^mk_acme_[0-9A-Za-z]{43}$/);
    expect(created.keyId).to.match(uuid7);
    const { apiKey, ...shown } = created;
    expect(shown.permissions).to.deep.equal(['coordination_read', 'resource_config']);
    expect(await run('key list --org acme')).to.deep.equal({ keys: [shown], nextCursor: null });
    const revoked = await run(`key revoke --org acme ${created.keyId}`);
    expect(revoked).to.deep.equal({ ...shown, revokedAt: revoked.revokedAt });
    expect(revoked.revokedAt).to.match(moment);
    expect(await run(`key revoke --org acme ${created.keyId}`)).to.deep.equal(revoked);
    expect(JSON.stringify(await run('key list --org acme'))).not.to.include(apiKey);
  });

  it('name an object that exists already or is unknown, and the command that shows them', async () => {
    const nothing = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
    const lines: [line: string, code: string, message: RegExp][] = [
      ['org create acme', 'ORG_EXISTS', /org show/],
      [`key revoke --org acme ${nothing}`, 'KEY_NOT_FOUND', new RegExp(`${nothing}: key list`)],
      [
        `key create --org acme --permissions coordination_read --spaces ${nothing}`,
        'SPACE_NOT_FOUND',
        new RegExp(`${nothing}: space list`),
      ],
    ];
    const check = async ([line, code, message]: (typeof lines)[number]) => {
      const error = await failure(line.split(' '), settings);
      expect([error.code, message.test(error.message)], error.message).to.deep.equal([code, true]);
    };
    await Promise.all(lines.map(check));
  });

  it('audit list shows changes, newest first, in pages', async () => {
    const { entries, nextCursor } = await run('audit list --org acme');
    expect(nextCursor).to.equal(null);
    expect(entries.map((entry: { action: string }) => entry.action)).to.deep.equal([
      'key.revoked',
      'key.created',
      'limits.updated',
      'limits.updated',
      'space.created',
      'space.created',
      'limits.updated',
      'space.created',
      'org.plan_set',
      'org.created',
    ]);
    expect(entries[9]).to.deep.equal({
      at: entries[9].at,
      action: 'org.created',
      actor: 'cli',
      target: 'acme',
      detail: { plan: 'free' },
    });
    expect(entries[9].at).to.match(moment);
    expect(entries[8].detail).to.include({ plan: 'enterprise', agents: 20, keys: 3, rpm: 'unlimited' });
    expect([entries[5].detail, entries[7].detail]).to.deep.equal([{ name: null }, { name: 'Größe "1"' }]);
    expect(entries[3].detail).to.deep.equal({ requestsPerMinute: 1200, maxBacklog: 17 });
    expect(entries[1].detail).to.deep.equal({
      name: 'ci',
      permissions: ['coordination_read', 'resource_config'],
      spaces: [],
    });

    const first = await run('audit list --org acme --limit 5');
    const second = await run(`audit list --org acme --limit 5 --cursor ${first.nextCursor}`);
    expect([...first.entries, ...second.entries]).to.deep.equal(entries);
    expect(second.nextCursor).to.equal(null);
  });

  it('use the store running on DATA_DIR without REDIS_URL', async () => {
    const { organizations } = await record(['org', 'list'], { DATA_DIR: store.dataDir });
    expect(organizations).to.have.length(1);
  });

  it('key create takes limits, and key rotate hands them on', async () => {
    await run('org create limited --plan enterprise');
    const { spaceId } = await run('space create --org limited');
    const limits = `--spaces ${spaceId} --holder worker-7 --expires-in-days 90`;
    const created = await run(`key create --org limited --permissions coordination_write ${limits}`);
    expect(created).to.deep.include({ spaces: [spaceId], mailboxes: [], holder: 'worker-7', lastUsedAt: null });
    expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).to.equal(90 * 86_400_000);
    const rotated = await run(`key rotate --org limited ${created.keyId} --overlap-hours 2`);
    expect(rotated).to.deep.include({ spaces: [spaceId], holder: 'worker-7', expiresAt: created.expiresAt });
    expect(rotated.apiKey)
      .to.match(/^mk_limited_/)
      .and.not.equal(created.apiKey);
    const overlapMs = Date.parse(rotated.replaced.expiresAt) - Date.parse(rotated.createdAt);
    expect([rotated.replaced.keyId, overlapMs]).to.deep.equal([created.keyId, 2 * 3_600_000]);
    const [{ action, detail }] = (await run('audit list --org limited --limit 1')).entries;
    expect([action, detail]).to.deep.equal(['key.rotated', { replaced: created.keyId, overlapHours: 2 }]);
    await run(`key revoke --org limited ${rotated.keyId}`);
    const again = await failure(['key', 'rotate', '--org', 'limited', rotated.keyId, '--overlap-hours', '0'], settings);
    expect([again.code, again.message]).to.deep.equal([
      'KEY_ENDED',
      `the key ${rotated.keyId} has ended or was revoked: create another one with key create`,
    ]);
  });

  it('create exactly 2 spaces when space create runs 4 times in parallel on the free plan', async () => {
    await run('org create four');
    const line = ['space', 'create', '--org', 'four'];
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => muster(line, settings)));
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal([0, 0, 1, 1]);
    expect((await run('space list --org four')).spaces).to.have.length(2);
    const { code, message } = await failure(line, settings);
    expect(code).to.equal('ENTITLEMENT_EXCEEDED');
    expect(message).to.match(/free plan allows 2 spaces.*org set-plan/);
  });
});
