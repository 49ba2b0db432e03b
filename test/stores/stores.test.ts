// What earlier versions wrote is read, and work on it goes on: see README.md.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pino from 'pino';
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { startService } from '../../src/service.ts';
import { findSnapshot } from '../../src/snapshot/folder.ts';
import { restoreEmbedded } from '../../src/snapshot/restore.ts';
import { overrides, World } from '../support/world.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const commits = (await readdir(folder)).filter((file) => file.endsWith('.rdb')).map((file) => file.replace('.rdb', ''));

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
    });

  it('is here', () => {
    expect(commits).to.not.deep.equal([]);
  });
});
