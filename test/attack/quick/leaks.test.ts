import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Store } from '../../../src/engine/redis/connection.ts';
import { createKey, createOrganization, createSpace, listAudit } from '../../../src/primitives/org/admin.ts';
import { allRoutes } from '../../../src/primitives/primitives.ts';
import { rawRequest } from '../../http/client.ts';
import { OwnStore } from '../../support/own-store.ts';
import { type MusterProcess, Processes } from '../../support/processes.ts';
import { Sink } from '../../support/sink.ts';
import { allPermissions } from '../../support/world.ts';

/** A secret that may appear only where it was asked for. */
const mark = (what: string): string => `MARK${what}${'x'.repeat(43 - what.length)}`;
/** Makes a process fail on an unhandled rejection, whose error carries a command's arguments. */
const crash =
  'process.on("SIGUSR2",()=>{Promise.reject(Object.assign(Error("ERR/boom"),{command:{name:"fcall",args:[process.env.MARK]}}))})';

describe('Logs and answers', () => {
  const processes = new Processes();
  let ownStore: OwnStore;
  let store: Store;
  let sink: Sink;
  let server: MusterProcess;
  let space: string;
  let apiKey: string;
  /** Every failed answer, and every report of what happened. */
  const outputs: string[] = [];
  const secrets = new Set<string>([mark('args')]);
  /** Method and status of every answer, by request id. */
  const answers = new Map<string, string>();
  let logged = '';

  before(async () => {
    ownStore = await OwnStore.start();
    sink = await Sink.start();
    const admin = await ownStore.admin();
    store = admin.store;
    await createOrganization(admin, { org: 'acme', plan: 'enterprise' });
    const limits = { requestsPerMinute: 100_000 };
    const { spaceId } = await createSpace(admin, { org: 'acme', limits });
    space = `/v1/spaces/${spaceId}`;
    apiKey = (await createKey(admin, { org: 'acme', permissions: allPermissions })).apiKey;
    secrets.add(apiKey);
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(crash)}`;
    const settings = {
      REDIS_URL: ownStore.url,
      LOG_LEVEL: 'trace',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      NODE_OPTIONS,
      MARK: mark('args'),
    };
    server = await processes.start({ ...settings, DATA_DIR: await processes.folder() }).ready();
  });
  after(async () => {
    await processes.clear();
    await ownStore.stop();
    await sink.stop();
  });

  /** Sends a request with a marked secret in every place that takes one; `values` are the body's. */
  async function send(method: string, path: string, values?: unknown, headers: Record<string, string> = {}) {
    const marks = {
      'Idempotency-Key': mark('idem') + randomUUID(),
      'X-Secret': mark('header'),
      Cookie: mark('cookie'),
    };
    const all = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', ...marks, ...headers };
    const body = values === undefined ? undefined : typeof values === 'string' ? values : JSON.stringify(values);
    const response = await fetch(server.url + path, { method, headers: all, ...(body !== undefined && { body }) });
    const text = await response.text();
    answers.set(response.headers.get('X-Request-Id') ?? '', `${method} ${response.status}`);
    if (response.status >= 400) outputs.push(text);
    for (const [, secret = ''] of text.matchAll(/"(?:token|signingSecret)":"([^"]+)"/g)) secrets.add(secret);
    return text === '' ? {} : JSON.parse(text);
  }
  const all = ['idem', 'header', 'cookie', 'payload', 'key', 'token', 'query', 'path', 'url', 'input', 'raw', 'result'];
  const expectNone = (text: string, where: string): void => {
    for (const secret of [...secrets, ...all.map((what) => `MARK${what}`)])
      expect(text.includes(secret), `${secret} in ${where}`).to.equal(false);
  };

  it('contain no key, token, payload, secret or header: no failure, event, delivery, audit record or log line does', async () => {
    const scopeId = randomUUID();
    const { id } = await send('POST', `${space}/mailboxes`, { name: 'jobs' });
    const holder = { scopeId, holder: 'h', holderSession: 's' };
    const payload = { secret: mark('payload') };
    const destination = { url: `${sink.url}/${mark('url')}` };
    const { id: destinationId } = await send('POST', `${space}/destinations`, destination);
    await send('POST', `${space}/destinations/${destinationId}/rotate-secret`);
    await send('POST', `${space}/destinations/${destinationId}/test`);
    await send('POST', `${space}/mailboxes/${id}/messages`, { scopeId, payload });
    const claim = await send('POST', `${space}/mailboxes/${id}/recv`, holder);
    expect(claim.payload).to.deep.equal(payload);
    const result = { payload: mark('result'), mailboxId: id, scopeId };
    for (const token of [mark('token'), claim.token, claim.token])
      await send('POST', `${space}/messages/${claim.id}/complete`, { token, result });
    const group = await send('POST', `${space}/task-groups`, { mailboxId: id, condition: 'ALL_TERMINAL' });
    await send('POST', `${space}/task-groups/${group.id}/tasks`, { taskKey: 'a', input: mark('input') });

    const wrong = {
      payload: mark('payload'),
      scopeId: mark('payload'),
      token: mark('token'),
      deadline: mark('payload'),
    };
    for (const path of [
      '/mailboxes',
      `/mailboxes/${id}/messages`,
      `/messages/${id}/complete`,
      `/mailboxes/${mark('path')}/recv`,
      '/destinations',
      '/budgets',
      `/${mark('path')}`,
    ])
      for (const body of [
        wrong,
        `{"payload":"${mark('payload')}`,
        mark('payload'),
        { ...wrong, url: mark('url'), name: 'x', eventTypes: [mark('url')] },
      ])
        await send('POST', space + path, body);
    const calls = ['message.send', 'message.complete', 'mailbox.create', mark('path')].flatMap((call) => [
      { call, mailboxId: id, messageId: claim.id, ...wrong, idempotencyKey: `${mark('idem')} x` },
      { call, mailboxId: id, scopeId, payload, colour: mark('payload') },
      { call, messageId: claim.id, token: mark('token'), result },
    ]);
    const batched = await send('POST', `${space}/batch`, { calls });
    outputs.push(JSON.stringify(batched));
    await send('POST', `${space}/batch`, { calls: [...calls, mark('payload')] });
    await send('POST', `${space}/batch`, `{"calls":["${mark('payload')}`);
    for (const query of ['cursor', 'limit', 'state', 'types', 'aggregate', 'scopeId', 'from'])
      for (const path of ['mailboxes', 'watch', 'events', 'usage', 'barriers'])
        await send('GET', `${space}/${path}?${query}=${mark('query')}`);
    for (const Authorization of [
      `Bearer mk_acme_${mark('key')}`,
      `Bearer ${mark('key')}`,
      `Basic ${mark('key')}`,
      mark('key'),
    ])
      await send('GET', `${space}/mailboxes`, undefined, { Authorization });
    await send(
      'POST',
      `${space}/mailboxes`,
      { name: 'x' },
      { 'Content-Type': mark('header'), 'Content-Encoding': mark('header') },
    );
    await send('POST', `${space}/mailboxes`, { name: 'x' }, { 'Idempotency-Key': `${mark('idem')} ${mark('idem')}` });
    // The same as tool calls, where a refusal is an HTTP success.
    const tool = async (name: string, args: unknown, headers?: Record<string, string>) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
      const { result } = await send('POST', `${space}/mcp`, message, headers);
      if (result?.isError) outputs.push(JSON.stringify(result));
      return result;
    };
    const refused = [
      await tool('message_complete', { messageId: claim.id, token: mark('token'), result }),
      await tool('message_send', { mailboxId: mark('path'), scopeId, payload }),
      await tool('message_send', { mailboxId: id, scopeId: mark('payload'), payload }),
      await tool('message_send', { mailboxId: id, scopeId, payload, idempotencyKey: `${mark('idem')} ` }),
      await tool('mailbox_list', { cursor: mark('query'), limit: 1 }),
      await tool('event_watch', { types: mark('query') }),
    ];
    expect(refused.map((one) => one?.isError)).to.deep.equal(refused.map(() => true));
    for (const headers of [{ Authorization: `Bearer ${mark('key')}` }, { Origin: `http://${mark('header')}` }])
      await tool('mailbox_list', {}, headers);
    await tool('message_send', { mailboxId: id, scopeId, payload, idempotencyKey: mark('idem') });
    await send('POST', `${space}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    for (const bytes of [
      `GET /${mark('raw')} HTTP/9\r\n\r\n`,
      `${mark('raw')}\r\n\r\n`,
      `GET / HTTP/1.1\r\n${mark('raw').repeat(999)}\r\n\r\n`,
    ])
      outputs.push(await rawRequest({ url: server.url }, bytes));
    for (const path of ['/events?limit=500', '/deliveries', '/ops/waits', `/ops/runs/${scopeId}`, '/census'])
      outputs.push(JSON.stringify(await send('GET', space + path)));
    outputs.push(JSON.stringify(await listAudit({ ...(await ownStore.admin()), store }, 'acme', { limit: 200 })));
    // The destination's url is the owner's to see, in its record and in the audit trail.
    expectNone(outputs.join('\n').replaceAll(new RegExp(mark('url'), 'g'), ''), 'what was answered');
  });

  it('contain none when the store fails, or holds what no script expects', async () => {
    const { id } = await send('POST', `${space}/mailboxes`, { name: 'broken' });
    const [key = ''] = await store.keys(`*${id}*`);
    await store.del(key);
    await store.set(key, 'not a hash');
    const body = { scopeId: randomUUID(), payload: mark('payload') };
    outputs.length = 0;
    const broken = await send('POST', `${space}/mailboxes/${id}/messages`, body);
    expect(broken.error.code).to.equal('INTERNAL');
    await store.del(key);
    await store.config('SET', 'maxmemory', '1');
    expect((await send('POST', `${space}/mailboxes`, { name: 'x' })).error.code).to.equal('STORE_UNAVAILABLE');
    await store.config('SET', 'maxmemory', '0');
    expectNone(outputs.join('\n'), 'what was answered');
  });

  it('contain none when a defect ends the process; no key and no Idempotency-Key is on disk', async () => {
    server.signal('SIGUSR2');
    const { status, stdout, stderr } = await server.ended;
    logged = stderr;
    expect(status).to.equal(1);
    expect(stderr).to.contain('ERR/boom');
    expect(stderr.match(/"status":500/g)).to.have.length(1);
    expectNone(stdout, 'stdout');
    expectNone(stderr, 'stderr');
    const folder = join(ownStore.dataDir, 'appendonlydir');
    const files = (await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1'));
    const disk = (await Promise.all(files)).join('\n');
    expect(disk).to.contain('MARKpayload');
    for (const secret of [apiKey, 'MARKidem', 'MARKheader', 'MARKkey'])
      expect(disk.includes(secret), secret).to.equal(false);
  });

  it('have one log line for every request, with its id, method, route, status, duration and script', () => {
    const lines = logged.split('\n').filter((line) => line.includes('"durationMs"'));
    const requests = lines.map((line) => JSON.parse(line)).filter(({ requestId }) => answers.has(requestId));
    expect(requests.map(({ requestId }) => requestId)).to.have.members([...answers.keys()]);
    for (const { requestId, method, route, status, durationMs, script } of requests) {
      expect(`${method} ${status}`).to.equal(answers.get(requestId));
      expect(durationMs).to.be.within(0, 20_000);
      const met = allRoutes.filter((one) => one.method === method && `/v1/spaces/:spaceId${one.path}` === route);
      if (route === '/v1/spaces/:spaceId/mcp') expect([met, script]).to.deep.equal([[], undefined]);
      else if (route !== undefined || script !== undefined)
        expect(met.map((one) => one.script)).to.deep.equal([script]);
      else expect(answers.get(requestId)).to.equal('POST 404');
    }
  });
});
