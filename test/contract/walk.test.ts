import { mkdtemp } from 'node:fs/promises';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { exchange } from '../support/exchange.ts';
import { OwnStore } from '../support/own-store.ts';
import { markedLua, Walked, walkedKey } from '../support/walked.ts';
import { World } from '../support/world.ts';

void mkdtemp;
describe('The walk of a request', () => {
  let ownStore: OwnStore;
  let service: MusterService;
  let other: MusterService;
  let world: World;
  let walked: Walked;
  before(async () => {
    ownStore = await OwnStore.start();
    const rest = {
      redisUrl: ownStore.url,
      role: 'api',
      host: '127.0.0.1',
      port: 0,
      log: pino({ level: 'silent' }),
    } as const;
    service = await startService({ ...rest, overrides: markedLua() });
    other = await startService(rest);
    world = await World.create({ on: service });
    walked = await new Walked().start();
  });
  after(async () => {
    walked.stop();
    await other.stop();
    await service.stop();
    await ownStore.stop();
  });

  async function files(run: () => Promise<unknown>) {
    let ts: string[] | undefined;
    let lua: string[] | undefined;
    for (let i = 0; i < 3; i++) {
      await service.store.del(walkedKey);
      await walked.take();
      await run();
      const t = await walked.take();
      const l = (await service.store.smembers(walkedKey)).sort();
      ts = ts ? ts.filter((x) => t.includes(x)) : t;
      lua = lua ? lua.filter((x) => l.includes(x)) : l;
    }
    return { ts: ts ?? [], lua: lua ?? [] };
  }
  const show = (name: string, { ts, lua }: { ts: string[]; lua: string[] }) => {
    const inDeps = ts.filter((x) => !x.startsWith('src/clients'));
    console.log(`${name}: ${inDeps.length} TS, ${lua.length} Lua\n  ${inDeps.join('\n  ')}\n  ${lua.join('\n  ')}`);
  };
  const post = async (path: string, body: unknown) => {
    const a = await exchange(
      'POST',
      `${service.url}/v1/spaces/${world.spaceId}${path}`,
      {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': `${Math.random()}`,
      },
      JSON.stringify(body),
    );
    if (a.status >= 300) throw new Error(a.text);
  };
  it('send', async () => {
    const { id: scopeId } = await world.mustPost('/scopes', { name: 's' });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'a' });
    show(
      'send',
      await files(() =>
        post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: { a: 1 }, workKey: `${Math.random()}` }),
      ),
    );
  });
  it('recv held', async () => {
    const { id: scopeId } = await world.mustPost('/scopes', { name: 's' });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'b' });
    const o = new World(other, world.org, world.spaceId, world.apiKey);
    show(
      'recv',
      await files(async () => {
        const r = post(`/mailboxes/${mailboxId}/recv`, {
          scopeId,
          holder: 'w',
          holderSession: 's',
          waitSeconds: 10,
          leaseSeconds: 60,
        });
        await new Promise((r) => setTimeout(r, 300));
        const t = await walked.take();
        await o.mustPost(`/mailboxes/${mailboxId}/messages`, {
          scopeId,
          payload: { a: 1 },
          workKey: `${Math.random()}`,
        });
        await r;
        void t;
      }),
    );
  });
  it('reserve', async () => {
    const { id: parentId } = await world
      .mustPost('/budgets', { name: 'p', limitMinor: '1000', currency: 'EUR', scale: 2 })
      .catch((e) => {
        console.log(e);
        return {};
      });
    const { id: budgetId } = await world
      .mustPost('/budgets', { name: 'c', limitMinor: '100', currency: 'EUR', scale: 2, parentBudgetId: parentId })
      .catch((e) => {
        console.log(e);
        return {};
      });
    const { id: scopeId } = await world.mustPost('/scopes', { name: 's' });
    show(
      'reserve',
      await files(() => post(`/budgets/${budgetId}/reserve`, { holder: 'w', amountMinor: '1', scopeId })),
    );
  });
});
