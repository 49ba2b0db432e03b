// The counted calls, and their order.
import type { Redis } from 'ioredis';
import { CALL_NAMES, type CallName, type Prepare } from './calls.ts';
import { type PerCall, perCall, WAYS, type Way } from './figures.ts';
import { type FunctionCall, gather, type RecordedService } from './recorded-service.ts';

/** Runs the work, and resolves with the server's instructions meanwhile. */
export type Count = (work: () => Promise<void>) => Promise<number>;

/**
 * After this many FCALLs, Redis runs a step of Lua's garbage collector. Only whole periods cost the same, and only once
 * the garbage of other calls is gone.
 */
const COLLECTING = 50;

/**
 * The number of FCALLs made before counting, the number of counted FCALLs, and the number of calls that each carries.
 */
export interface Batch {
  readonly before: number;
  readonly counted: number;
  readonly carries: number;
}

export const BATCHES: Readonly<Record<Way, Batch>> = {
  alone: { before: 3 * COLLECTING, counted: 3 * COLLECTING, carries: 1 },
  gathered: { before: COLLECTING, counted: COLLECTING, carries: 8 },
};

const PINGS = 200;

/** Instructions per call, as each round found them. */
export interface Found {
  readonly calls: PerCall<number[]>;
  readonly pings: number[];
}

export interface Measured {
  readonly service: RecordedService;
  readonly prepare: Readonly<Record<CallName, Prepare>>;
  /** The connection whose calls are counted. */
  readonly redis: Redis;
  readonly count: Count;
}

/** Runs all calls in each round, so that rounds differ only by the records that earlier rounds have left. */
export async function runRounds(measured: Measured, rounds: number, batches = BATCHES): Promise<Found> {
  const { redis, count } = measured;
  const found: Found = { calls: perCall<number[]>(() => []), pings: [] };
  for (let round = 1; round <= rounds; round++) {
    for (const name of CALL_NAMES) {
      for (const way of WAYS) found.calls[name][way].push(await countBatch(measured, name, batches[way]));
    }
    const pings = async (): Promise<void> => {
      for (let i = 0; i < PINGS; i++) await redis.ping();
    };
    found.pings.push((await count(pings)) / PINGS);
  }
  return found;
}

async function countBatch({ service, prepare, redis, count }: Measured, name: CallName, batch: Batch): Promise<number> {
  const fcalls: FunctionCall[] = [];
  while (fcalls.length < batch.before + batch.counted) {
    const calls: FunctionCall[] = [];
    while (calls.length < batch.carries) calls.push(await service.record(await prepare[name]()));
    fcalls.push(gather(calls));
  }
  const work = async (some: readonly FunctionCall[]): Promise<void> => {
    for (const fcall of some) await run(redis, fcall, batch.carries);
  };
  await work(fcalls.slice(0, batch.before));
  return (await count(() => work(fcalls.slice(batch.before)))) / (batch.counted * batch.carries);
}

/** Throws if a call was refused: the cost of a refusal is not the cost of the call. */
async function run(redis: Redis, fcall: FunctionCall, carries: number): Promise<void> {
  const reply = await redis.call('FCALL', ...fcall);
  if (carries === 1) return;
  if (!Array.isArray(reply) || reply.length !== carries) throw new Error(`${fcall[0]} did not answer ${carries} calls`);
  const refusal: unknown = reply.find((one) => one instanceof Error);
  if (refusal) throw refusal;
}
