// A peer behind bare Koa: one POST each to send, to receive and to complete, without anything else that a service
// needs.
import { createServer } from 'node:http';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { announce } from '../servers/child.ts';
import { clientOfThisProcess } from './clients/all.ts';

const { client, address } = await clientOfThisProcess();
const service = await client.service?.(address);
if (!service) throw new Error('this client cannot stand behind HTTP');

const COMPLETE = '/complete/';

const app = new Koa();
app.use(bodyParser({ enableTypes: ['json'] }));
app.use(async (ctx) => {
  const body = ctx.request.body as { token?: string };
  if (ctx.path === '/send') {
    ctx.body = { id: await service.send(body) };
    ctx.status = 201;
  } else if (ctx.path === '/recv') {
    const claimed = await service.recv();
    if (claimed) ctx.body = claimed;
    else ctx.status = 204;
  } else if (ctx.path.startsWith(COMPLETE)) {
    await service.complete(ctx.path.slice(COMPLETE.length), body.token ?? '');
    ctx.body = { state: 'ACKED' };
  }
});

announce(createServer(app.callback()));
