import type { InProcessCommand, InProcessResult } from '../bullmq-in-process.ts';
import type { Phase } from '../phases.ts';
import type { BullmqCounts } from '../servers/bullmq.ts';
import type { BullmqKoaCommand } from '../servers/bullmq-koa.ts';
import type { Settings, Work } from './contender.ts';
import { BODY, Forked } from './forked.ts';

const PHASES = ['send', 'drain', 'through'] as const satisfies readonly Phase[];
/** In-process contenders take a fixed number of messages, about as many as a second of HTTP brings. */
const IN_PROCESS_PER_SECOND = 5_000;
const BULK = 50;

class BullmqKoa extends Forked {
  readonly name = 'BullMQ, Koa';
  readonly phases = PHASES;
  protected readonly file = 'servers/bullmq-koa.ts';

  #command(command: BullmqKoaCommand['do']): Promise<BullmqCounts> {
    return this.server.ask({ do: command });
  }

  protected async work(phase: Phase, seconds: number): Promise<Work> {
    if (phase === 'send') return this.post(seconds);
    const startedAt = performance.now();
    const before = await this.#command('release');
    const work = phase === 'through' ? await this.post(seconds) : undefined;
    const after = await this.#command('wait');
    const total = (performance.now() - startedAt) / 1000;
    await this.#command('hold');
    return { count: after.processed - before.processed, seconds: total, ...(work ? { http: work.http } : {}) };
  }
}

export class BullmqInProcess extends Forked {
  readonly name: string;
  readonly phases = PHASES;
  protected readonly file = 'bullmq-in-process.ts';
  protected override readonly env: Record<string, string>;
  readonly #bulk: boolean;
  #queued = 0;

  constructor(settings: Settings, name: string, options: { keep?: boolean; bulk?: boolean } = {}) {
    super(settings);
    this.name = name;
    this.env = options.keep ? { BENCH_BULLMQ_KEEP: '1' } : {};
    this.#bulk = options.bulk ?? false;
  }

  async command(action: InProcessCommand['do'], messages: number, atOnce: number): Promise<Work> {
    const command: InProcessCommand = { do: action, messages, atOnce, body: BODY };
    const { seconds } = await this.server.ask<InProcessCommand, InProcessResult>(command);
    return { count: messages, seconds };
  }

  protected async work(phase: Phase, seconds: number): Promise<Work> {
    const messages = Math.ceil(IN_PROCESS_PER_SECOND * seconds);
    const { connections } = this.settings;
    if (phase === 'through')
      return this.#bulk ? this.command('bulkThrough', messages, BULK) : this.command('through', messages, connections);
    if (phase === 'send') {
      this.#queued += messages;
      return this.#bulk ? this.command('bulk', messages, BULK) : this.command('add', messages, connections);
    }
    const queued = this.#queued;
    this.#queued = 0;
    return this.command('process', queued, connections);
  }
}

export const bullmqContenders = {
  'bullmq-koa': (settings: Settings) => new BullmqKoa(settings),
  'bullmq-in-process': (settings: Settings) => new BullmqInProcess(settings, 'BullMQ, in process'),
  'bullmq-keep': (settings: Settings) => new BullmqInProcess(settings, 'BullMQ, in process, kept', { keep: true }),
  'bullmq-bulk': (settings: Settings) => new BullmqInProcess(settings, 'BullMQ, in process, addBulk', { bulk: true }),
};
