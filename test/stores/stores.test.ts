// What earlier versions wrote is read, and work on it goes on: see README.md.
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pino from 'pino';
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { momentOfId } from '../../src/engine/declare/field.ts';
import { findSnapshot } from '../../src/jobs/snapshot/folder.ts';
import { restoreEmbedded } from '../../src/jobs/snapshot/restore.ts';
import { startService } from '../../src/service.ts';
import { expectAgreement } from '../support/agree.ts';
import { allPermissions, overrides, World } from '../support/world.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** They stay in the repository for ever. */
const maxBytes = 65_536;
const commits = readdirSync(folder)
  .filter((file) => file.endsWith('.rdb'))
  .map((file) => file.replace('.rdb', ''));

describe('A store that an earlier version wrote', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const one of undo.splice(0).reverse()) await one();
  });

  /** The restored store, at the time of its snapshot. */
  async function open(commit: string) {
    const dataDir = await mkdtemp(join(tmpdir(), 'muster-stores-'));
    undo.push(() => rm(dataDir, { recursive: true, force: true }));
    const log = (): void => undefined;
    const file = await findSnapshot(dataDir, join(folder, `${commit}.rdb`));
    await restoreEmbedded(file, { dataDir, program: await findRedisServer({ log }), log });
    const redis = await startEmbedded({ dataDir, log });
    undo.push(() => redis.stop());
    const rest = { role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }), overrides } as const;
    const service = await startService({ redisUrl: redis.socketPath, ...rest });
    undo.push(() => service.stop());
    const ids = JSON.parse(await readFile(join(folder, `${commit}.json`), 'utf8'));
    const world = new World(service, 'dev', ids.spaceId, ids.apiKey);
    await world.at(Date.parse(ids.at) + 10_000);
    return { world, ids };
  }

  for (const commit of commits)
    it(`is read as it was, and work on it goes on: ${commit}`, async () => {
      const { world, ids } = await open(commit);
      const get = async (path: string) => (await world.get(path)).body;
      const stateOf = async (path: string): Promise<string> => (await get(path)).state;
      const { messages, mailbox } = ids;
      const before = { done: 'ACKED', refused: 'REJECTED', claimed: 'CLAIMED', ready: 'READY', delayed: 'DELAYED' };
      for (const [name, state] of Object.entries(before))
        expect(await stateOf(`/messages/${messages[name]}`), name).to.equal(state);
      expect(await get(`/messages/${messages.done}`)).to.deep.include({ result: [1], workKey: 'done' });
      expect((await get(`/budgets/${ids.budget}`)).balances).to.include({
        reserved: '60',
        settled: '40',
        available: '900',
      });
      expect(await get(`/barriers/${ids.barrier}`)).to.include({ state: 'OPEN', arrivals: 1 });
      expect(await get(`/allowance-waiters/${ids.waiter}`)).to.include({ state: 'WAITING', position: 1 });
      expect(await stateOf(`/scopes/${ids.stopped}`)).to.equal('CANCELLED');
      expect(await get(`/schedules/${ids.schedule}`)).to.include({ state: 'ACTIVE', cron: '0 6 * * *' });
      const types = await world.eventTypes();
      expect(types).to.include.members(['mailbox.created', 'message.acked', 'waiter.queued', 'scope.cancelled']);

      await world.mustPost(`/messages/${messages.claimed}/complete`, { token: ids.token });
      const again = await world.mustPost(`/mailboxes/${mailbox}/messages`, {
        ...{ scopeId: ids.scopeId, payload: 2, workKey: 'done' },
      });
      expect(again).to.deep.include({ id: messages.done, replay: true });
      await world.mustPost(`/messages/${messages.refused}/requeue`);
      const agent = { scopeId: ids.scopeId, holder: 'h', holderSession: 's', max: 100 };
      const { messages: received } = await world.mustPost(`/mailboxes/${mailbox}/recv`, agent);
      expect(received.map(({ id }: { id: string }) => id)).to.include.members([messages.ready, messages.refused]);
      const member = received.find(({ taskId }: { taskId: string }) => taskId === ids.task);
      await world.mustPost(`/messages/${member.id}/complete`, { token: member.token });
      await world.mustPost(`/task-groups/${ids.group}/tasks/${ids.task}/accept`);
      expect((await get(`/task-groups/${ids.group}`)).counts).to.include({ accepted: 1, succeeded: 1 });
      expect((await world.mustPost(`/barriers/${ids.barrier}/arrive`, { arrivalKey: 'b' })).state).to.equal('RELEASED');
      await world.mustPost(`/budgets/${ids.budget}/void`, { reservationId: ids.reservation, workKey: 'v' });
      expect((await get(`/budgets/${ids.budget}`)).balances).to.include({ reserved: '0', available: '960' });
      await world.mustPost(`/allowance-waiters/${ids.waiter}/cancel`);
      await world.mustPost(`/schedules/${ids.schedule}/trigger`);
      if (ids.waiting) await goOn(world, ids);
    });

  it('is here, and small', async () => {
    expect(commits).to.include.members(['5fe0071', '761d759', '76f7dcd']);
    for (const commit of commits)
      expect((await stat(join(folder, `${commit}.rdb`))).size, commit).to.be.below(maxBytes);
  });
});

/** Everything that waits for something else is read as it was, and goes on. */
async function goOn(world: World, { waiting, scopeId }: Record<string, Record<string, string>>): Promise<void> {
  const ids = waiting ?? {};
  const get = async (path: string) => (await world.get(path)).body;
  const post = (path: string, body?: object) => world.mustPost(path, body);
  const message = (name: string) => get(`/messages/${ids[name]}`);
  const blockedBy = async (name: string): Promise<string[]> => {
    const { state, blockedBy } = await message(name);
    return [state, ...blockedBy.map(({ kind, id }: Record<string, string>) => `${kind} ${id}`)];
  };
  const pools = [{ poolId: ids['pool'], units: 2 }];
  expect(await message('equipped')).to.nested.include({
    state: 'CLAIMED',
    'holds[0].units': 2,
    'consumptions[0].units': 10,
  });
  expect((await message('equipped')).traceparent).to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-/);
  expect(await message('short')).to.deep.include({
    priority: 9,
    requires: { pools, quotas: [{ allowanceId: ids['quota'], units: 10 }] },
  });
  expect(await blockedBy('short')).to.deep.equal(['BLOCKED', `POOL ${ids['pool']}`]);
  expect(await blockedBy('follower')).to.deep.equal(['BLOCKED', `MESSAGE ${ids['equipped']}`]);
  expect((await blockedBy('ofGroup'))[1]).to.match(/^GROUP /);
  expect(await blockedBy('behind')).to.deep.equal(['BLOCKED', `KEY ${ids['keyed']}`]);
  expect(await blockedBy('asker')).to.deep.equal(['BLOCKED', `QUESTION ${ids['question']}`]);
  expect(await message('hinted')).to.nested.include({
    state: 'READY',
    'question.answeredBy': 'ann',
    'question.answer.long': '12345678901234567890',
  });
  expect(await get(`/allowances/${ids['quota']}`)).to.include({ usedUnits: 20 });
  expect(await get(`/pools/${ids['lock']}`)).to.include({ heldUnits: 1, waiting: 1 });
  expect(await get(`/pool-holds/${ids['queued']}`)).to.include({ state: 'WAITING', position: 1 });
  expect(await get(`/questions/${ids['asked']}`)).to.deep.include({ state: 'OPEN', options: ['yes', 'no'] });
  const root = await get(`/budgets/${ids['root']}`);
  expect(root.balances).to.include({ reserved: '15', settled: '65', overdrawn: '0' });
  expect(root.spentByLabel).to.deep.equal({ drafts: '5', reviews: '60' });
  const branch = await get(`/budgets/${ids['branch']}`);
  expect(branch.balances).to.include({ reserved: '15', overdrawn: '30' });
  expect(branch.spentByLabel).to.deep.equal({ drafts: '5', reviews: '60' });
  const { notes } = await get(`/scopes/${scopeId}/notes?values=true`);
  const values = notes.map(({ key, value, holder }: Record<string, unknown>) => [key, value, holder]);
  expect(values).to.deep.equal([
    ['deal', 1, null],
    ['fenced', 1, 'agent'],
    ['plan', { steps: [1, 2] }, null],
  ]);
  expect((await get(`/mailboxes/${ids['paused']}`)).paused).to.equal(true);
  const { tens } = await get('/figures');
  expect(tens.reduce((sum: number, { acked }: { acked: number }) => sum + acked, 0)).to.be.at.least(1);

  const { atomic, atomicKey, repeatable } = ids;
  const again = await world.call('POST', '/batch', atomic, { 'Idempotency-Key': atomicKey ?? '' });
  expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true']);
  // An answer of that version stands for every caller.
  const other = { 'Idempotency-Key': atomicKey ?? '', Authorization: `Bearer ${await world.key(allPermissions)}` };
  const theirs = await world.call('POST', '/batch', atomic, other);
  expect([theirs.status, theirs.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true']);
  const group = { mailboxId: ids['mailbox'], condition: 'FIRST_ACCEPTED', workKey: 'group' };
  expect(await post('/task-groups', group)).to.include({ id: repeatable, replay: true });
  const settled = `/allowances/${ids['quota']}/consumptions/${ids['consumption']}/settle`;
  expect(await post(settled, { units: 7 })).to.include({ settledUnits: 7, replay: true });

  await post(`/messages/${ids['equipped']}/complete`, { token: ids['token'] });
  await post(`/messages/${ids['keyed']}/complete`, { token: ids['keyedToken'] });
  await post(`/questions/${ids['question']}/answer`, { answer: 'on', answeredBy: 'ann' });
  const all = { scopeId, holder: 'h', holderSession: 's', max: 20 };
  const received = (await post(`/mailboxes/${ids['mailbox']}/recv`, all)).messages;
  expect(received.map(({ id }: { id: string }) => id)).to.include.members(
    ['short', 'follower', 'behind', 'asker', 'hinted'].map((name) => ids[name]),
  );
  for (const { id, token } of received) await post(`/messages/${id}/complete`, { token });
  await post(`/pool-holds/${ids['held']}/release`, { token: ids['heldToken'] });
  expect(await get(`/pool-holds/${ids['queued']}`)).to.include({ state: 'HELD' });
  await post(`/pool-holds/${ids['queued']}/release`, { force: true });
  await post(`/questions/${ids['asked']}/withdraw`);
  await post(`/budgets/${ids['branch']}/void`, { reservationId: ids['open'], workKey: 'v' });
  await world.call('PATCH', `/budgets/${ids['branch']}`, { limitMinor: '100' });
  expect((await get(`/budgets/${ids['branch']}`)).balances).to.include({
    settled: '65',
    reserved: '0',
    overdrawn: '0',
  });
  await post(`/mailboxes/${ids['paused']}/resume`);
  const resumed = await post(`/mailboxes/${ids['paused']}/recv`, { ...all, max: 1 });
  expect(resumed.messages).to.have.length(1);
  await expectAgreement(world);

  const headers = { Authorization: `Bearer ${ids['key']}` };
  expect((await world.call('GET', '/census', undefined, headers)).status).to.equal(200);
  await world.at(momentOfId(repeatable ?? '') + 86_460_000);
  expect((await world.call('GET', '/census', undefined, headers)).status).to.equal(401);
}
