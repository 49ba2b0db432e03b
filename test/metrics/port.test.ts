import { expect } from 'chai';
import { version } from '../../src/package.ts';
import { Metered, scrape } from './metered.ts';

const statusOf = async (url: string | undefined, path: string): Promise<number> =>
  (await fetch(`${url}${path}`)).status;

describe('METRICS_PORT', () => {
  let metered: Metered;
  before(async () => {
    metered = await Metered.start();
  });
  after(() => metered.stop());

  it("unset: /metrics is on the API's port, and a worker does not listen", async () => {
    const api = await metered.service({ role: 'api' });
    expect(api.metricsUrl).to.equal(api.url);
    expect(await statusOf(api.url, '/metrics')).to.equal(200);
    const worker = await metered.service({ role: 'worker' });
    expect([worker.url, worker.metricsUrl]).to.deep.equal([undefined, undefined]);
  });

  it("set: /metrics, /healthz and /readyz are there without the API, and the API's port has no /metrics", async () => {
    const api = await metered.service({ role: 'api', metricsPort: 0 });
    expect(api.metricsUrl).to.not.equal(api.url);
    expect(await statusOf(api.url, '/metrics')).to.equal(404);
    expect(await statusOf(api.url, '/healthz')).to.equal(200);
    const path = '/v1/spaces/0190a1b2-0000-7000-8000-000000000000/limits';
    expect(await statusOf(api.url, path)).to.equal(401);
    expect(await statusOf(api.metricsUrl, path)).to.equal(404);
    expect(await statusOf(api.url, '/openapi.json')).to.equal(200);
    for (const page of ['/openapi.json', '/docs', '/console'])
      expect(await statusOf(api.metricsUrl, page), page).to.equal(404);
    const seen = await scrape(api);
    expect(seen.value('muster_http_requests_total', { method: 'GET', route: '/openapi.json', status: '200' })).to.equal(
      1,
    );
  });

  it('set for a worker: its probes and metrics are there', async () => {
    const worker = await metered.service({ role: 'worker', metricsPort: 0 });
    expect(worker.url).to.equal(undefined);
    expect(await statusOf(worker.metricsUrl, '/healthz')).to.equal(200);
    expect(await statusOf(worker.metricsUrl, '/readyz')).to.equal(200);
    expect((await scrape(worker)).value('muster_info', { version, role: 'worker' })).to.equal(1);
  });

  it('in use: one clear line names the setting', async () => {
    const api = await metered.service({ role: 'api' });
    const { port } = new URL(api.url ?? '');
    const refused = metered.service({ role: 'worker', metricsPort: Number(port) });
    const failure = await refused.catch((error: Error) => error);
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/is in use: .*set METRICS_PORT to another/);
  });
});
