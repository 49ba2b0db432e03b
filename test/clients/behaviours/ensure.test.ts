import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, defineMailboxes, MusterError, Worker } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findPython } from '../../support/python.ts';
import { World } from '../../support/world.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Cases {
  readonly cases: readonly {
    readonly name: string;
    readonly room: 'mailbox' | 'schedule';
    readonly first: Fields;
    readonly then: Fields;
    readonly has?: Fields;
    readonly code?: string;
    readonly message?: string;
  }[];
  readonly warnings: { readonly first: Fields; readonly then: Fields; readonly texts: readonly string[] };
}

/** An ensured record, a refusal, or the warnings that a typed mailbox, used twice, and a worker have printed. */
interface Said {
  readonly record?: Fields;
  readonly code?: string;
  readonly message?: string;
  readonly status?: number;
  readonly texts?: readonly string[];
}

interface Client {
  ask(room: string, args: Fields): Promise<Said>;
  stop(): Promise<void>;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { cases, warnings }: Cases = JSON.parse(readFileSync(here('ensure.json'), 'utf8'));

const clients: Readonly<Record<string, (world: World) => Promise<Client>>> = {
  TypeScript: async (world) => {
    const muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    const ensure = async (room: string, args: Fields): Promise<Said> => {
      const calls = muster[room as 'mailbox'];
      try {
        return { record: (await calls.ensure(args as Parameters<typeof calls.ensure>[0])) as unknown as Fields };
      } catch (error) {
        if (!(error instanceof MusterError)) throw error;
        const { code, message, status } = error;
        return { code, message, status };
      }
    };
    const warned = async ({ name, ...fields }: Fields): Promise<Said> => {
      const { warn } = console;
      const texts: string[] = [];
      console.warn = (text: string) => texts.push(text.replace(/^muster: /, ''));
      try {
        const mailboxes = defineMailboxes<Record<string, { in: unknown; out: unknown }>>({ [String(name)]: fields });
        for (let n = 0; n < 2; n++) await mailboxes(muster, String(name)).id();
        const worker = new Worker(
          muster,
          { mailbox: { name: String(name), ...fields }, closeOnSignals: false },
          () => 1,
        );
        await worker.mailboxId;
        await worker.close();
      } finally {
        console.warn = warn;
      }
      return { texts };
    };
    return {
      ask: (room, args) => (room === 'warnings' ? warned(args) : ensure(room, args)),
      stop: async () => undefined,
    };
  },
  Python: (world) => pythonClient(world, 'sync'),
  asyncio: (world) => pythonClient(world, 'async'),
};

async function pythonClient(world: World, kind: string): Promise<Client> {
  const python = await findPython();
  const paths = { PYTHONPATH: here('../../../src/clients/python') };
  const access = { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
  const child = spawn(python.command, [here('ensure.py'), kind], {
    env: { ...python.env, ...paths, ...access },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endAtExit(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    ask: async (room, args) => {
      child.stdin.write(`${JSON.stringify({ room, args })}\n`);
      return JSON.parse((await lines.next()).value ?? '{}');
    },
    stop: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

for (const [name, start] of Object.entries(clients))
  describe(`ensure of the ${name} client`, () => {
    let world: World;
    let client: Client;
    before(async () => {
      world = await World.create();
      client = await start(world);
    });
    after(() => client.stop());

    for (const one of cases)
      it(`finds ${one.name}`, async () => {
        const shared: Record<string, unknown> = { name: randomUUID() };
        if (one.room === 'schedule') {
          const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'scheduled' });
          Object.assign(shared, { mailboxId, scopeId: randomUUID().toUpperCase() });
        }
        const first = await client.ask(one.room, { ...one.first, ...shared });
        const { record, code, message, status } = await client.ask(one.room, { ...one.then, ...shared });
        const told = message?.replaceAll(String(shared['name']), '<name>');
        const refusal = one.code === undefined ? undefined : 409;
        expect([code, status, told]).to.deep.equal([one.code, refusal, one.message]);
        if (one.has) expect(record).to.deep.include({ ...one.has, id: first.record?.['id'] });
      });

    it('is not needed for a word about a mailbox that differs: it is printed once', async () => {
      const mailbox = { name: randomUUID() };
      await client.ask('mailbox', { ...warnings.first, ...mailbox });
      const { texts = [] } = await client.ask('warnings', { ...warnings.then, ...mailbox });
      expect(texts.map((text) => text.replaceAll(mailbox.name, '<name>'))).to.have.members(warnings.texts);
    });
  });
