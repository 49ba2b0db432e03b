import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { someTrace } from '../support/trace.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';
import { Tab, useTabs } from './tab.ts';

describe('The console shows the trace of a message', () => {
  useTabs();
  let service: MusterService;
  before(async () => {
    service = await delivering({ traceUrl: 'https://traces.example.com/"a&b"/{traceId}?x=1' });
  });
  after(() => service.stop());

  const traceparent = someTrace();
  const traceId = traceparent.slice(3, 35);

  /** What it shows in a message's row of this name; undefined: there is none. */
  async function traceOn(world: World, headers: Record<string, string>) {
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'traced' });
    const body = { scopeId: randomUUID(), payload: 1 };
    const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, body, headers);
    const tab = await Tab.live(world, {}, `/message/${id}`);
    await tab.page.locator('#message').getByText('READY', { exact: true }).waitFor();
    return tab.page.locator('#message dl > div').filter({ has: tab.page.getByText('Trace', { exact: true }) });
  }

  it('as a link to what TRACE_URL names', async () => {
    const row = await traceOn(await World.create({ on: service }), { traceparent });
    const link = row.getByRole('link');
    expect(await link.innerText()).to.equal(traceId);
    expect(await link.getAttribute('href')).to.equal(`https://traces.example.com/"a&b"/${traceId}?x=1`);
  });

  it('as its id where the setting is left out, and not at all of a message without one', async () => {
    const world = await World.create();
    const row = await traceOn(world, { traceparent });
    expect(await row.innerText()).to.match(new RegExp(`Trace\\s+${traceId}`));
    expect(await row.getByRole('link').count()).to.equal(0);
    expect(await (await traceOn(world, {})).count()).to.equal(0);
  });
});
