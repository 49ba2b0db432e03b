import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { PlanChoice } from '../../src/primitives/org/admin.ts';
import { until } from '../support/processes.ts';
import { codeOf, type Reply, World } from '../support/world.ts';

const minute = 60_000;

describe('Request rates', () => {
  const scopeId = randomUUID();
  /** 10 seconds into a future calendar minute. */
  const start = (Math.floor(Date.now() / minute) + 2) * minute + 10_000;

  async function make(choice: Partial<PlanChoice> & { limits?: Record<string, number> }): Promise<World> {
    const world = await World.create(choice);
    await world.at(start);
    return world;
  }
  const rateOf = ({ headers }: Reply) => [headers.get('RateLimit-Policy'), headers.get('RateLimit')];

  it('requestsPerMinute of a calendar UTC minute, then 429 RATE_LIMITED until the next', async () => {
    const world = await make({ limits: { requestsPerMinute: 3 } });
    for (const left of [2, 1, 0]) {
      const reply = await world.get('/budgets');
      expect(rateOf(reply)).to.deep.equal(['"space";q=3;w=60', `"space";r=${left};t=50`]);
      expect(reply.headers.get('Retry-After')).to.equal(null);
    }
    await world.at(start + 49_500);
    const refused = await world.get('/budgets');
    expect(codeOf(refused)).to.equal('429 RATE_LIMITED');
    expect(refused.body.error.message).to.match(/requestsPerMinute .*: retry .*, or raise it with PUT \/limits/);
    expect(refused.headers.get('Retry-After')).to.equal('1');
    expect(rateOf(refused)).to.deep.equal(['"space";q=3;w=60', '"space";r=0;t=1']);
    await world.at(start + 50_000);
    expect(rateOf(await world.get('/budgets'))[1]).to.equal('"space";r=2;t=60');
  });

  it('refused requests are not counted; failed ones are', async () => {
    const world = await make({ limits: { requestsPerMinute: 4 } });
    expect((await world.get('/budgets?limit=0')).headers.get('RateLimit')).to.equal('"space";r=3;t=50');
    expect((await world.get(`/mailboxes/${randomUUID()}/messages`)).headers.get('RateLimit')).to.equal(
      '"space";r=2;t=50',
    );
    const other = `Bearer ${await world.key(['resource_config'])}`;
    const denied = await world.call('GET', '/budgets', undefined, { Authorization: other });
    expect(denied.headers.get('RateLimit')).to.equal('"space";r=2;t=50');
    await world.get('/budgets');
    await world.get('/budgets');
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await world.get('/budgets');
      expect([status, headers.get('Retry-After')]).to.deep.equal([429, '50']);
    }
    await world.call('PUT', '/limits', { requestsPerMinute: 6 });
    expect((await world.get('/budgets')).headers.get('RateLimit')).to.equal('"space";r=0;t=50');
  });

  it('recovery calls and GET and PUT limits count, but are never refused by the space rate', async () => {
    const world = await make({ limits: { requestsPerMinute: 5 } });
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    for (const payload of [1, 2]) await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload });
    const recv = () => world.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    const [one, two] = [await recv(), await recv()];
    expect(codeOf(await world.get('/budgets'))).to.equal('429 RATE_LIMITED');
    const token = one.token;
    expect((await world.post(`/messages/${one.id}/renew`, { token })).status).to.equal(200);
    expect((await world.post(`/messages/${one.id}/complete`, { token })).status).to.equal(200);
    expect((await world.post(`/messages/${two.id}/nack`, { token: two.token, retry: true })).status).to.equal(200);
    expect((await world.post(`/messages/${two.id}/nack`, {})).status, 'wrong by shape').to.equal(400);
    expect((await world.get('/limits')).status).to.equal(200);
    const put = await world.call('PUT', '/limits', { requestsPerMinute: 10 });
    expect(put.status).to.equal(200);
    // Five ordinary calls, four recovery calls, two for limits: all are counted.
    expect((await world.get('/limits')).headers.get('RateLimit')).to.equal('"space";r=0;t=50');
    expect(codeOf(await world.get('/budgets'))).to.equal('429 RATE_LIMITED');
  });

  it('the figures and mailboxes are recovery calls for a key that may raise the limit, ordinary for others', async () => {
    const world = await make({ limits: { requestsPerMinute: 1 }, figures: { rpm: '10' } });
    const key = async (...more: string[]) => ({
      Authorization: `Bearer ${await world.key(['coordination_read', ...more])}`,
    });
    const [reader, operator] = [await key(), await key('resource_config')];
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const reads = ['/census', '/backlog', '/usage', '/figures', '/mailboxes', `/mailboxes/${id}`, '/limits'];
    for (const path of reads) {
      const ofReader = await world.call('GET', path, undefined, reader);
      expect(codeOf(ofReader), path).to.equal(path === '/limits' ? '200' : '429 RATE_LIMITED');
      expect(codeOf(await world.call('GET', path, undefined, operator)), path).to.equal('200');
    }
    expect(codeOf(await world.call('GET', '/budgets', undefined, operator))).to.equal('429 RATE_LIMITED');
    const calls = Array(2).fill({ call: 'mailbox.view', mailboxId: id });
    const whole = (headers: Record<string, string>) => world.call('POST', '/batch', { atomic: true, calls }, headers);
    expect(codeOf(await whole(reader))).to.equal('429 RATE_LIMITED');
    // Nine requests were not refused: the two of the batch are too many for the organization, too.
    expect(codeOf(await whole(operator))).to.equal('429 SERVICE_RATE_LIMITED');
    await world.service.store.hset(`muster:{${world.org}}`, 'rpm', 11);
    expect(codeOf(await whole(operator))).to.equal('200');
  });

  it('a raised limit is in the headers of the very answer to its PUT', async () => {
    const world = await make({ limits: { requestsPerMinute: 5 } });
    const reply = await world.call('PUT', '/limits', { requestsPerMinute: 9 });
    expect(rateOf(reply)).to.deep.equal(['"space";q=9;w=60', '"space";r=8;t=50']);
  });

  it('ordinary calls may use 80 % of the organization rate, all calls 100 %: 429 SERVICE_RATE_LIMITED', async () => {
    const world = await make({ figures: { rpm: '10' } });
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    const claim = await world.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    for (let i = 0; i < 4; i++) await world.get('/budgets');
    const last = await world.get('/limits');
    expect(rateOf(last)).to.deep.equal(['"space";q=10;w=60, "org";q=10;w=60', '"space";r=2;t=50, "org";r=0;t=50']);
    for (const path of ['/budgets', '/limits', '/events', '/budgets?x']) {
      const refused = await world.get(path);
      expect(codeOf(refused), path).to.equal('429 SERVICE_RATE_LIMITED');
      expect(refused.body.error.message).to.match(/: retry .*, or move to a larger plan$/);
      expect(refused.headers.get('Retry-After')).to.equal('50');
      expect(rateOf(refused)[1]).to.equal('"space";r=2;t=50, "org";r=0;t=50');
    }
    const renew = () => world.post(`/messages/${claim.id}/renew`, { token: claim.token });
    expect((await renew()).status).to.equal(200);
    expect((await renew()).status).to.equal(200);
    expect(codeOf(await renew())).to.equal('429 SERVICE_RATE_LIMITED');
    await world.at(start + minute);
    expect((await world.get('/budgets')).status).to.equal(200);
  });

  it('recovery calls use their reserved fifth first, so ordinary calls keep their 80 %', async () => {
    const world = await make({ figures: { rpm: '10' } });
    const orgRate = (reply: Reply) => rateOf(reply)[1]?.split(', ')[1];
    const renew = () => world.post(`/messages/${randomUUID()}/renew`, { token: 'none' });
    expect(orgRate(await renew())).to.equal('"org";r=8;t=50');
    expect(orgRate(await renew())).to.equal('"org";r=8;t=50');
    expect(orgRate(await renew())).to.equal('"org";r=7;t=50');
    for (let left = 6; left >= 0; left--) expect(orgRate(await world.get('/limits'))).to.equal(`"org";r=${left};t=50`);
    expect(codeOf(await world.get('/limits'))).to.equal('429 SERVICE_RATE_LIMITED');
    expect(codeOf(await renew())).to.equal('429 SERVICE_RATE_LIMITED');
    await world.service.store.hset(`muster:{${world.org}}`, 'rpm', 5);
    expect(orgRate(await world.get('/limits')), 'a plan changed to less than is used').to.equal('"org";r=0;t=50');
    await world.service.store.hset(`muster:{${world.org}}`, 'rpm', 10);
    await world.at(start + minute);
    for (const left of [7, 6]) expect(orgRate(await world.get('/limits'))).to.equal(`"org";r=${left};t=50`);
  });

  it('ordinary calls may always make at least one request', async () => {
    const world = await make({ figures: { rpm: '1' } });
    expect((await world.get('/budgets')).status).to.equal(200);
    expect(codeOf(await world.get('/budgets'))).to.equal('429 SERVICE_RATE_LIMITED');
  });

  it('spaces share the organization rate, and each has its own space rate', async () => {
    const world = await make({ figures: { rpm: '4' }, limits: { requestsPerMinute: 2 } });
    const second = await world.anotherSpace();
    await world.get('/budgets');
    await world.get('/budgets');
    expect(codeOf(await world.get('/budgets'))).to.equal('429 RATE_LIMITED');
    expect((await second.get('/budgets')).headers.get('RateLimit')).to.equal('"space";r=3;t=50, "org";r=0;t=50');
    expect(codeOf(await second.get('/budgets'))).to.equal('429 SERVICE_RATE_LIMITED');
  });

  it('an unknown space or malformed id has no space rate: the answer has the organization rate', async () => {
    const world = await make({ figures: { rpm: '10' } });
    for (const [spaceId, code] of [
      [randomUUID(), '404 SPACE_NOT_FOUND'],
      ['x', '400 VALIDATION_FAILED'],
    ]) {
      const headers = { Authorization: `Bearer ${world.apiKey}` };
      const reply = await world.send('GET', `/v1/spaces/${spaceId}/mailboxes`, undefined, headers);
      expect(codeOf(reply)).to.equal(code);
      expect(rateOf(reply), code).to.deep.equal(['"org";q=10;w=60', '"org";r=8;t=50']);
    }
    for (let i = 0; i < 9; i++) await world.get('/budgets');
    expect(codeOf(await world.get('/budgets'))).to.equal('429 SERVICE_RATE_LIMITED');
    const other = { Authorization: `Bearer ${await world.key(['resource_config'])}` };
    expect(codeOf(await world.call('GET', '/mailboxes', undefined, other)), 'first 403').to.equal(
      '403 PERMISSION_DENIED',
    );
    const elsewhere = new World(world.service, world.org, randomUUID(), world.apiKey);
    expect(codeOf(await elsewhere.get('/budgets')), 'then 404').to.equal('404 SPACE_NOT_FOUND');
  });

  it('a watch and a destination, which run several scripts, also have the rate headers', async () => {
    const world = await make({ limits: { requestsPerMinute: 40 } });
    const url = 'https://127.0.0.1:9/';
    for (const reply of [await world.get('/watch'), await world.post('/destinations', { url })])
      expect(reply.headers.get('RateLimit-Policy')).to.equal('"space";q=40;w=60');
  });

  it('100 requests at once are accepted up to exactly the rate', async () => {
    const world = await make({ limits: { requestsPerMinute: 40 } });
    const replies = await Promise.all(Array.from({ length: 100 }, () => world.get('/budgets')));
    expect(replies.filter(({ status }) => status === 200)).to.have.lengthOf(40);
    expect(replies.filter(({ status }) => status === 429)).to.have.lengthOf(60);
  });

  it('a held receive is not refused by the rate when it looks again', async () => {
    const world = await make({ figures: { rpm: '10' } });
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 'result' });
    const recv = { scopeId, holder: 'h', holderSession: 's' };
    const claim = await world.mustPost(`/mailboxes/${id}/recv`, recv);
    for (let i = 0; i < 4; i++) await world.get('/budgets');
    const held = world.post(`/mailboxes/${id}/recv`, { ...recv, waitSeconds: 20 });
    await until(() => world.service.wake.size > 0);
    expect((await world.get('/budgets')).status).to.equal(429);
    await world.mustPost(`/messages/${claim.id}/nack`, { token: claim.token, retry: true });
    const reply = await held;
    expect([reply.status, reply.body?.payload]).to.deep.equal([200, 'result']);
    const tenth = await world.post(`/messages/${claim.id}/renew`, { token: reply.body.token });
    expect(tenth.status, 'nor counted again').to.equal(200);
  });
});
