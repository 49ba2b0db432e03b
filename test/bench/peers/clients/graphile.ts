import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { type Client, Tally } from './client.ts';

const TASK = 'message';
const quiet = new Logger(() => () => undefined);

/**
 * As its performance page recommends: addJobs, a local queue of 500, completions in batches. It has no public call to
 * fetch one job.
 */
const worker: Client['worker'] = async (connectionString, atOnce) => {
  const utils = await makeWorkerUtils({ connectionString, logger: quiet });
  await utils.migrate();
  const tally = new Tally();
  await run({
    logger: quiet,
    noHandleSignals: true,
    taskList: { [TASK]: async () => tally.done() },
    preset: {
      worker: {
        connectionString,
        concurrentJobs: atOnce,
        maxPoolSize: atOnce + 2,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  const left = () =>
    utils.withPgClient(async (pg) => {
      const { rows } = await pg.query<{ count: string }>('select count(*) from graphile_worker.jobs');
      return Number(rows[0]?.count);
    });
  return {
    through: async (messages, bulk, payload) => {
      const finished = tally.next(messages);
      for (let rest = messages; rest > 0; rest -= bulk) {
        await utils.addJobs(Array.from({ length: Math.min(rest, bulk) }, () => ({ identifier: TASK, payload })));
      }
      await finished;
      // The last batch of completions may still be on its way.
      while ((await left()) > 0) await sleep(2);
    },
  };
};

export const client: Client = { worker };
