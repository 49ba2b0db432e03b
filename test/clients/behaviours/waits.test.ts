import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, MusterError, TypedMailbox, Worker } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { until } from '../../support/processes.ts';
import { findPython } from '../../support/python.ts';
import { World } from '../../support/world.ts';
import { type Fault, type FaultyProxy, faultyProxy } from './faulty-proxy.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What others do while it waits. */
interface Act {
  /** Waits until the proxy has received a call of this name so many times; default once. */
  readonly called?: string;
  readonly times?: number;
  readonly do: 'finish' | 'letGo' | 'cancel' | 'stop' | 'arrive' | 'next' | 'cancelBarrier' | 'decide';
}

interface Case {
  readonly name: string;
  readonly wait: string;
  readonly maxSeconds?: number;
  readonly faults?: readonly Fault[];
  readonly then?: readonly Act[];
  readonly ends: Fields;
}

/** What a client is asked to wait for. */
interface Asked {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly wait: string;
  readonly ids: Fields;
  readonly maxSeconds?: number | undefined;
}

/** A wait that has begun. */
interface Waiting {
  readonly ends: Promise<Fields>;
  stop(): void;
}

interface Host {
  begin(asked: Asked): Waiting;
  end(): Promise<unknown>;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const cases: readonly Case[] = JSON.parse(readFileSync(here('waits.json'), 'utf8')).cases;

const hosts: Readonly<Record<string, () => Promise<Host>>> = {
  TypeScript: async () => ({ begin, end: async () => undefined }),
  Python: () => pythonHost('sync'),
  asyncio: () => pythonHost('async'),
};

function begin({ wait, ids, maxSeconds, ...access }: Asked): Waiting {
  const muster = createMuster(access);
  const over = new AbortController();
  const options = { signal: over.signal, maxSeconds };
  const { scopeId, groupId, messageId, mailboxId, barrierId, epoch } = ids as Readonly<Record<string, string>>;
  const found = async (): Promise<unknown> => {
    if (wait === 'idle') return muster.scope.waitIdle({ scopeId: scopeId ?? '' }, options);
    if (wait === 'decided') return muster.group.waitDecided({ groupId: groupId ?? '' }, options);
    if (wait === 'result')
      return { result: await new TypedMailbox<unknown, unknown>(muster, 'any').result(messageId ?? '', options) };
    if (wait === 'drained') {
      const worker = new Worker(muster, { mailbox: { mailboxId: mailboxId ?? '' }, closeOnSignals: false }, () => 1);
      worker.on('error', () => undefined);
      await worker.drained();
      await worker.close(0);
      return { result: 'drained' };
    }
    const of = epoch === undefined ? {} : { epoch: Number(epoch) };
    return muster.barrier.arriveAndWait({ barrierId: barrierId ?? '', arrivalKey: 'me', ...of }, options);
  };
  const ends = found().catch((error: Error) => ({ error: error instanceof MusterError ? error.code : error.name }));
  return { ends: ends as Promise<Fields>, stop: () => over.abort(Object.assign(new Error(), { name: 'stopped' })) };
}

async function pythonHost(kind: string): Promise<Host> {
  const { command, env } = await findPython();
  const paths = { PYTHONPATH: here('../../../src/clients/python') };
  const child = spawn(command, [here('waits.py'), kind], {
    env: { ...env, ...paths },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endAtExit(child);
  const waiting = new Map<number, (ends: Fields) => void>();
  createInterface(child.stdout).on('line', (line) => {
    const { number, ends } = JSON.parse(line);
    waiting.get(number)?.(ends);
  });
  const exit = once(child, 'exit');
  const write = (line: object) => void child.stdin.write(`${JSON.stringify(line)}\n`);
  return {
    begin: (asked) => {
      const number = waiting.size;
      const ends = new Promise<Fields>((resolve) => waiting.set(number, resolve));
      write({ ...asked, number });
      return { ends, stop: () => write({ number, stop: true }) };
    },
    end: () => {
      child.stdin.end();
      return exit;
    },
  };
}

describe('A wait', () => {
  let world: World;
  before(async () => {
    world = await World.create();
  });

  /** Makes a case's run with a claimed message, its barrier and its group, and what others do with them. */
  async function prepare() {
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const scopeId = randomUUID();
    const sent = await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    const holder = { holder: 'somebody', holderSession: '1' };
    const { token } = await world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, ...holder });
    const barrier = await world.mustPost('/barriers', { scopeId: randomUUID(), target: 2 });
    const group = await world.mustPost('/task-groups', { mailboxId, condition: 'ALL_TERMINAL' });
    const ids = { scopeId, mailboxId, messageId: sent.id, barrierId: barrier.id, groupId: group.id };
    const acts: Readonly<Partial<Record<Act['do'], () => Promise<unknown>>>> = {
      finish: () => world.mustPost(`/messages/${sent.id}/complete`, { token, result: { payload: 7 } }),
      cancel: () => world.mustPost(`/scopes/${scopeId}/cancel`),
      arrive: () => world.mustPost(`/barriers/${barrier.id}/arrive`, { arrivalKey: 'other' }),
      next: () => world.mustPost(`/barriers/${barrier.id}/nextEpoch`),
      cancelBarrier: () => world.mustPost(`/barriers/${barrier.id}/cancel`),
      decide: () => world.mustPost(`/task-groups/${group.id}/seal`),
    };
    return { ids, acts };
  }

  async function outcomeOf(host: Host, { wait, maxSeconds, faults = [], then = [], ends }: Case): Promise<Fields> {
    const { ids, acts } = await prepare();
    if (wait === 'last') await acts.arrive?.();
    const proxy: FaultyProxy = await faultyProxy(world.url, faults);
    const special: Readonly<Record<string, Fields>> = {
      unknown: { scopeId: randomUUID() },
      'wrong epoch': { epoch: 5 },
    };
    const kind = { unknown: 'idle', last: 'arrive', 'wrong epoch': 'arrive' }[wait] ?? wait;
    const asked = { url: proxy.url, key: world.apiKey, spaceId: world.spaceId, wait: kind };
    const waiting = host.begin({ ...asked, ids: { ...ids, ...special[wait] }, maxSeconds });
    try {
      for (const { called, times = 1, do: act } of then) {
        if (called) await until(async () => proxy.calls.filter((name) => name === called).length >= times);
        if (act === 'letGo') proxy.letGo();
        else if (act === 'stop') waiting.stop();
        else await acts[act]?.();
      }
      const found = await waiting.ends;
      return Object.fromEntries(Object.keys(ends).map((name) => [name, found[name] ?? found]));
    } finally {
      proxy.close();
    }
  }

  for (const [client, start] of Object.entries(hosts))
    describe(client, () => {
      let host: Host;
      let outcomes: Map<string, Promise<Fields>>;
      before(async () => {
        host = await start();
        outcomes = new Map(cases.map((one) => [one.name, outcomeOf(host, one)]));
        for (const outcome of outcomes.values()) outcome.catch(() => undefined);
      });
      after(() => host.end());

      for (const one of cases)
        it(one.name, async () => {
          expect(await outcomes.get(one.name)).to.deep.equal(one.ends);
        });
    });
});
