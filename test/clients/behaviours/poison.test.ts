import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import type { MusterService } from '../../../src/service.ts';
import { until } from '../../support/processes.ts';
import { findPython } from '../../support/python.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

interface Cases {
  readonly concurrency: number;
  readonly cases: readonly { readonly name: string; readonly isSentLast: boolean; readonly maxAttempts: number }[];
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { concurrency, cases }: Cases = JSON.parse(readFileSync(here('poison.json'), 'utf8'));
const leaseMs = 30_000;

/** Starts a worker process of a client. */
const processes: Readonly<Record<string, (env: NodeJS.ProcessEnv) => Promise<ChildProcess>>> = {
  TypeScript: async (env) => spawn(process.execPath, [here('poisoned.mjs')], { env: { ...process.env, ...env } }),
  Python: async (env) => {
    const python = await findPython();
    const paths = { PYTHONPATH: here('../../../src/clients/python') };
    return spawn(python.command, [here('poisoned.py')], { env: { ...python.env, ...paths, ...env } });
  },
};

interface Case {
  readonly client: string;
  readonly start: (env: NodeJS.ProcessEnv) => Promise<ChildProcess>;
  readonly name: string;
  readonly isSentLast: boolean;
  readonly maxAttempts: number;
}

interface End {
  readonly deaths: number;
  readonly messages: readonly { readonly payload: unknown; readonly state: string; readonly attempts: number }[];
}

const all: readonly Case[] = Object.entries(processes).flatMap(([client, start]) =>
  cases.map((one) => ({ ...one, client, start })),
);
const nameOf = ({ name, client }: Case): string => `${name}: ${client}`;

describe('A message that ends its process', function () {
  this.timeout(300_000);
  let service: MusterService;
  let ends: Map<string, Promise<End>>;
  before(async () => {
    service = await delivering();
    // They wait more than they work: all at once.
    ends = new Map(all.map((one) => [nameOf(one), run(one)]));
    for (const end of ends.values()) end.catch(() => undefined);
  });
  after(() => service.stop());

  /** Starts worker processes, one after the other, until nothing is left to do. */
  async function run({ start, isSentLast, maxAttempts }: Case): Promise<End> {
    const world = await World.create({ on: service });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs', maxAttempts });
    const scopeId = randomUUID();
    const send = (payload: unknown) => world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload });
    for (let n = 1; n < concurrency; n++) await send(n);
    if (!isSentLast) await send('poison');
    const counts = async () => (await world.get(`/mailboxes/${mailboxId}`)).body.counts;
    const isOver = async () => {
      const { ready, delayed, claimed } = await counts();
      return ready + delayed + claimed === 0;
    };
    const env = { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
    let deaths = 0;
    for (let now = Date.now(); !(await isOver()); now += leaseMs + 1_000) {
      await world.at(now);
      const child = await start({ ...env, MAILBOX: mailboxId, CONCURRENCY: String(concurrency) });
      endAtExit(child);
      const exit = once(child, 'exit');
      let begun = 0;
      child.stdout?.on('data', (lines: Buffer) => {
        for (const _ of String(lines).match(/\d/g) ?? [])
          if (++begun === concurrency - 1 && isSentLast && deaths === 0) void send('poison');
      });
      const isAlive = () => child.exitCode === null && child.signalCode === null;
      await until(async () => !isAlive() || (await isOver()));
      if (!(await isOver())) deaths++;
      child.kill('SIGKILL');
      await exit;
      await world.at(now + leaseMs + 1_000);
      await service.due.drain(world.org);
      await until(async () => (await counts()).claimed === 0);
    }
    const { messages } = (await world.get(`/mailboxes/${mailboxId}/messages`)).body;
    return { deaths, messages };
  }

  for (const one of all)
    it(`fails alone, and takes none of the neighbours along ${nameOf(one)}`, async () => {
      const { deaths, messages } = (await ends.get(nameOf(one))) ?? { deaths: 0, messages: [] };
      expect(messages).to.have.length(concurrency);
      for (const { payload, state, attempts } of messages) {
        const isPoison = payload === 'poison';
        expect(state, `${payload} after ${attempts} attempts`).to.equal(isPoison ? 'FAILED' : 'ACKED');
      }
      expect(deaths).to.equal(one.maxAttempts);
    });
});
