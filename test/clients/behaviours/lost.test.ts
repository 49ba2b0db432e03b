import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, Worker } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import type { MusterService } from '../../../src/service.ts';
import { findPython } from '../../support/python.ts';
import { slowProxy } from '../../support/slow-proxy.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';
import lost from './lost.json' with { type: 'json' };

type Case = (typeof lost.cases)[number];

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const leaseMs = 5_000;

interface Access {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly mailboxId: string;
}

/** What a worker says: it has a claim, or its handler has seen why that has ended. */
interface Said {
  readonly id: string;
  readonly token: string;
  readonly reason?: string;
}

/** Starts a worker of a client, whose handler waits for the end of its claim. Resolves with a function that stops it. */
type Start = (access: Access, hear: (said: Said) => void) => Promise<() => Promise<unknown>>;

const clients: Readonly<Record<string, Start>> = {
  TypeScript: async ({ mailboxId, ...access }, hear) => {
    const options = { mailbox: { mailboxId }, leaseSeconds: leaseMs / 1000, closeOnSignals: false };
    const worker = new Worker(createMuster(access), options, async ({ id, token }, { signal }) => {
      hear({ id, token });
      await once(signal, 'abort');
      hear({ id, token, reason: signal.reason.message });
    });
    // Calls fail while the service is away.
    worker.on('error', () => undefined);
    return () => worker.close(0);
  },
  Python: async ({ url, key, spaceId, mailboxId }, hear) => {
    const { command, env } = await findPython();
    const paths = { PYTHONPATH: here('../../../src/clients/python') };
    const access = { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId, MAILBOX: mailboxId };
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const child = spawn(command, [here('losing.py')], { env: { ...env, ...paths, ...access }, stdio: [...stdio] });
    endAtExit(child);
    createInterface(child.stdout as Readable).on('line', (line) => hear(JSON.parse(line)));
    const exit = once(child, 'exit');
    return async () => {
      child.kill('SIGKILL');
      await exit;
    };
  },
};

describe('A handler whose claim has ended sees why', () => {
  let service: MusterService;
  let reasons: Map<string, Promise<string>>;
  const all = Object.keys(clients).flatMap((client) => lost.cases.map((one) => ({ client, one })));
  const nameOf = (client: string, { name }: Case): string => `${name}: ${client}`;
  before(async () => {
    service = await delivering();
    // They wait more than they work: all at once.
    reasons = new Map(all.map(({ client, one }) => [nameOf(client, one), reasonOf(client, one)]));
    for (const reason of reasons.values()) reason.catch(() => undefined);
  });
  after(() => service.stop());

  /** Runs a worker, ends its claim, and resolves with the reason that its handler has seen. */
  async function reasonOf(client: string, { then }: Case): Promise<string> {
    const world = await World.create({ on: service });
    const proxy = await slowProxy(world.url, 0);
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: null });
    const access = { url: proxy.url, key: world.apiKey, spaceId: world.spaceId, mailboxId };
    let stop: (() => Promise<unknown>) | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        const hear = ({ reason, ...claim }: Said): void => {
          if (reason !== undefined) resolve(reason);
          else endClaim(world, { mailboxId, ...claim }, then, proxy).catch(reject);
        };
        clients[client]?.(access, hear).then((end) => {
          stop = end;
        }, reject);
      });
    } finally {
      await stop?.();
      proxy.close();
    }
  }

  interface Claim {
    readonly mailboxId: string;
    readonly id: string;
    readonly token: string;
  }

  async function endClaim(
    world: World,
    { mailboxId, id, token: own }: Claim,
    then: readonly string[],
    proxy: { close(): void },
  ): Promise<void> {
    let token = own;
    for (const step of then) {
      if (step === 'cancel') await world.mustPost(`/messages/${id}/cancel`);
      if (step === 'nack') await world.mustPost(`/messages/${id}/nack`, { token, retry: true, delaySeconds: 60 });
      if (step === 'complete') await world.mustPost(`/messages/${id}/complete`, { token, result: { payload: 1 } });
      if (step === 'lapse') await world.at(Date.now() + leaseMs + 1_000);
      if (step === 'recv') {
        const claim = { scopeId: '*', holder: 'another', holderSession: 'a', waitSeconds: 5 };
        ({ token } = await world.mustPost(`/mailboxes/${mailboxId}/recv`, claim));
      }
      if (step === 'away') proxy.close();
    }
  }

  for (const { client, one } of all)
    it(nameOf(client, one), async () => {
      const reason = (await reasons.get(nameOf(client, one))) ?? '';
      expect(reason.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')).to.equal(one.reason);
    });
});
