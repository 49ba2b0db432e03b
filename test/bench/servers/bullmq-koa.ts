// BullMQ behind the same bare Koa: a POST parses its JSON body and adds a job; the worker runs in this process.
import { createServer } from 'node:http';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { counts, holdWorker, queue, releaseWorker, waitForAll } from './bullmq.ts';
import { announce, answer } from './child.ts';

export type BullmqKoaCommand = { do: 'hold' | 'release' | 'wait' };

const app = new Koa();
app.use(bodyParser({ enableTypes: ['json'] }));
app.use(async (ctx) => {
  const job = await queue.add('message', ctx.request.body);
  counts.added++;
  ctx.status = 201;
  ctx.body = { id: job.id };
});

answer<BullmqKoaCommand>(async (command) => {
  if (command.do === 'hold') await holdWorker();
  if (command.do === 'release') releaseWorker();
  if (command.do === 'wait') await waitForAll();
  return counts;
});

announce(createServer(app.callback()));
