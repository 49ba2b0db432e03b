import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findPython } from '../../support/python.ts';
import { World } from '../../support/world.ts';
import { type FaultyProxy, faultyProxy, strangeAnswers } from './faulty-proxy.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Asked {
  readonly url: string;
  readonly name: string;
  /** Null: as the client has it. */
  readonly retrySeconds: number | null;
}

type Outcome = Readonly<Record<'id' | 'code' | 'status' | 'message', unknown>>;

/** Creates mailboxes at once, with a client of a language. */
type Create = (world: World, asked: readonly Asked[]) => Promise<readonly Partial<Outcome>[]>;

const python =
  (kind: string): Create =>
  async (world, asked) => {
    const { command, env } = await findPython();
    const access = { MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
    const paths = { PYTHONPATH: here('../../../src/clients/python') };
    const child = spawn(command, [here('answered.py'), kind], {
      env: { ...env, ...paths, ...access },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endAtExit(child);
    child.stdin.end(JSON.stringify(asked));
    return (await json(child.stdout)) as Partial<Outcome>[];
  };

const clients: Readonly<Record<string, Create>> = {
  TypeScript: (world, asked) => Promise.all(asked.map((one) => create(world, one))),
  Python: python('sync'),
  asyncio: python('async'),
};

async function create(world: World, { url, name, retrySeconds }: Asked): Promise<Partial<Outcome>> {
  const muster = createMuster({ url, key: world.apiKey, spaceId: world.spaceId });
  try {
    const { id } = await muster.mailbox.create({ name }, retrySeconds === null ? {} : { retrySeconds });
    return { id };
  } catch (error) {
    const { code, status } = error as { code: string; status: number };
    return { code, status, message: String(error) };
  }
}

/** A call through a proxy that answers so many times by itself. */
interface Case {
  readonly title: string;
  readonly is: string;
  readonly times: number;
  readonly retrySeconds: number | null;
  check(found: { outcome: Partial<Outcome>; name: string; proxy: FaultyProxy; world: World }): Promise<void> | void;
}

const kinds = Object.keys(strangeAnswers).flatMap((is): Case[] => [
  {
    title: `is made again, and happens once: ${is}`,
    ...{ is, times: 2, retrySeconds: null },
    check: async ({ outcome: { id }, name, proxy, world }) => {
      const { mailboxes } = (await world.get(`/mailboxes?name=${name}`)).body;
      expect(mailboxes.map((one: { id: string }) => one.id)).to.deep.equal([id]);
      expect(proxy.calls).to.deep.equal(['mailbox.create', 'mailbox.create', 'mailbox.create']);
    },
  },
  {
    title: `fails, and quotes nothing of it, if it may not be repeated: ${is}`,
    ...{ is, times: 1, retrySeconds: 0 },
    check: ({ outcome: { code, status, message }, proxy: { url, calls } }) => {
      expect([code, status]).to.deep.equal(['UNREADABLE', strangeAnswers[is]?.status ?? status]);
      expect(message)
        .to.match(/not a Muster response: ./)
        .and.not.match(/private/);
      if (is.startsWith('a redirect')) expect(message).to.contain(`a redirect to ${url}, which`);
      expect(calls).to.deep.equal(['mailbox.create']);
    },
  },
]);

const cases: readonly Case[] = [
  ...kinds,
  {
    title: 'is made again if it was read too late',
    ...{ is: 'a request that was read too late', times: 2, retrySeconds: null },
    check: ({ outcome: { id }, proxy: { calls } }) => {
      expect(id).to.be.a('string');
      expect(calls).to.deep.equal(['mailbox.create', 'mailbox.create', 'mailbox.create']);
    },
  },
  {
    title: 'has the code of a time-out if it was read too late and may not be repeated',
    ...{ is: 'a request that was read too late', times: 1, retrySeconds: 0 },
    check: ({ outcome: { code, status } }) => {
      expect([code, status]).to.deep.equal(['REQUEST_TIMEOUT', 408]);
    },
  },
  {
    title: 'is made again until its time is over, with pauses',
    ...{ is: 'a gateway that is away', times: Number.POSITIVE_INFINITY, retrySeconds: 0.5 },
    check: ({ outcome: { code }, proxy: { calls } }) => {
      expect(code).to.equal('UNREADABLE');
      // After 0.1, 0.2 and 0.4 s, and a quarter more each at the most.
      expect(calls.length).to.be.within(2, 4);
    },
  },
];

describe('A call that something else answers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.create();
  });

  for (const [client, createAll] of Object.entries(clients))
    describe(client, () => {
      const names = cases.map(() => randomUUID());
      let proxies: FaultyProxy[];
      let outcomes: readonly Partial<Outcome>[];
      before(async () => {
        const faults = cases.map(({ is, times }) => ({ call: 'mailbox.create', is, times }));
        proxies = await Promise.all(faults.map((fault) => faultyProxy(world.url, [fault])));
        const asked = cases.map(({ retrySeconds }, i) => ({
          url: proxies[i]?.url ?? '',
          name: names[i] ?? '',
          retrySeconds,
        }));
        outcomes = await createAll(world, asked);
      });
      after(() => proxies.forEach((proxy) => void proxy.close()));

      for (const [i, { title, check }] of cases.entries())
        it(title, () =>
          check({
            outcome: outcomes[i] ?? {},
            name: names[i] ?? '',
            proxy: proxies[i] as FaultyProxy,
            world,
          }),
        );
    });
});
