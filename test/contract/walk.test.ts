import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pino from 'pino';
import { randomTail } from '../../src/engine/route/args.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { callIn } from '../redis/gathered-support.ts';
import { exchange } from '../support/exchange.ts';
import { OwnStore } from '../support/own-store.ts';
import { markedLua, Walked, walkedKey } from '../support/walked.ts';
import { World } from '../support/world.ts';

const design = fileURLToPath(new URL('../../docs/design.md', import.meta.url));

/** The files of which a function runs for a request. */
interface Walk {
  readonly title: string;
  readonly files: readonly string[];
}

const foldersOf = (files: readonly string[]): string[] => [...new Set(files.map((file) => posix.dirname(file)))].sort();
const namesIn = (folder: string, files: readonly string[]): string =>
  files
    .filter((file) => posix.dirname(file) === folder)
    .map((file) => posix.basename(file).replace(/\.\w+$/, ''))
    .join(', ') || '–';

/** The table in docs/design.md: what all walks have in common, and what each adds. */
function tableOf(walks: readonly Walk[]): string {
  const common = walks[0]?.files.filter((file) => walks.every(({ files }) => files.includes(file))) ?? [];
  const columns = walks.map(({ files }) => files.filter((file) => !common.includes(file)));
  const count = (files: readonly string[], ending: string): number =>
    files.filter((file) => file.endsWith(ending)).length;
  const rows = foldersOf(walks.flatMap(({ files }) => files)).map(
    (folder) => `| ${folder} | ${[common, ...columns].map((files) => namesIn(folder, files)).join(' | ')} |`,
  );
  const totals = [common, ...walks.map(({ files }) => files)].map(
    (files) => `${count(files, '.ts')} TypeScript, ${count(files, '.lua')} Lua`,
  );
  return [
    '<!-- walk: test/contract/walk.test.ts -->',
    `| | Every request | ${walks.map(({ title }) => title).join(' | ')} |`,
    `| --- | ${[common, ...walks].map(() => '---').join(' | ')} |`,
    ...rows,
    `| files in all | ${totals.join(' | ')} |`,
    '<!-- /walk -->',
  ].join('\n');
}

describe('The walk of a request from the server to its rule', () => {
  let ownStore: OwnStore;
  let service: MusterService;
  let other: MusterService;
  let world: World;
  let walked: Walked;
  let folder: string;

  before(async () => {
    ownStore = await OwnStore.start();
    const log = pino({ level: 'silent' });
    const rest = { redisUrl: ownStore.url, role: 'api', host: '127.0.0.1', port: 0, log } as const;
    folder = await mkdtemp(join(tmpdir(), 'muster-walked-'));
    service = await startService({ ...rest, overrides: markedLua(folder) });
    other = await startService(rest);
    world = await World.create({ on: service });
    walked = await new Walked().start();
  });
  after(async () => {
    walked.stop();
    await other.stop();
    await service.stop();
    await ownStore.stop();
    await rm(folder, { recursive: true });
  });

  async function post(path: string, body: unknown): Promise<void> {
    const headers = {
      Authorization: `Bearer ${world.apiKey}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    };
    const url = `${service.url}/v1/spaces/${world.spaceId}${path}`;
    const { status, text } = await exchange('POST', url, headers, JSON.stringify(body));
    expect(status, text).to.be.oneOf([200, 201]);
  }

  /** The files that each of three such requests runs: what happens beside them at a time does not count. */
  async function walk(title: string, request: () => Promise<unknown>): Promise<Walk> {
    let files: string[] | undefined;
    for (let round = 0; round < 3; round++) {
      await service.store.del(walkedKey);
      await walked.take();
      await request();
      const ran = [...(await walked.take()), ...(await service.store.smembers(walkedKey)).sort()];
      files = files?.filter((file) => ran.includes(file)) ?? ran;
    }
    return { title, files: files ?? [] };
  }

  it('goes through the files that docs/design.md names', async () => {
    const { id: scopeId } = await world.mustPost('/scopes', { name: 'run' });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const { id: emptyId } = await world.mustPost('/mailboxes', { name: 'later' });
    const money = { currency: 'EUR', scale: 2, limitMinor: '1000' };
    const { id: parentBudgetId } = await world.mustPost('/budgets', { name: 'all', ...money });
    const { id: budgetId } = await world.mustPost('/budgets', { name: 'part', ...money, parentBudgetId });
    const by = { scopeId, holder: 'a', holderSession: '1' };
    const elsewhere = new World(other, world.org, world.spaceId, world.apiKey);
    const send = {
      script: 'mailbox/send',
      callName: 'message.send',
      idempotencyDigest: '',
      fingerprint: '',
      args: { mailboxId: emptyId, scopeId, workKey: '', payload: '1' },
    };
    const walks = [
      await walk('a send adds', () => post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 })),
      await walk('a held receive adds', async () => {
        const received = post(`/mailboxes/${emptyId}/recv`, { ...by, waitSeconds: 30 });
        while (service.wake.size === 0) await sleep(5);
        await callIn(elsewhere, { ...send, args: { ...send.args, tail: randomTail() } });
        await received;
      }),
      await walk('a reserve with a parent adds', () =>
        post(`/budgets/${budgetId}/reserve`, { scopeId, holder: 'a', amountMinor: '1' }),
      ),
    ];
    const table = tableOf(walks);
    expect(readFileSync(design, 'utf8').includes(`\n${table}\n`), `the table to have there:\n${table}`).to.equal(true);
  });
});
