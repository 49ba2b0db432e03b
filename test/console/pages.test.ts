import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { rulesOfLooks } from '../support/chromium.ts';
import { Sink } from '../support/sink.ts';
import { delivering, untilRows } from '../support/webhooks.ts';
import { World } from '../support/world.ts';
import { hostile, type Seeded, seed } from './seed.ts';
import { Tab, useTabs } from './tab.ts';

/** The texts of times, which tick. */
const ticking = `/(<time[^>]*>)[^<]*/g`;
/** What Tab must reach, in this order: everything visible that can be used. */
const usable = `[...document.querySelectorAll('a[href], button, input, select, summary, pre, [tabindex="0"]')]
  .filter((node) => node.checkVisibility()).map((node) => node.outerHTML.replace(${ticking}, '$1'))`;
/** The focused element, and whether it is visible as such. */
const focused = `(() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  // The browser does so itself, right after the event.
  node.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const { left, right, width } = node.getBoundingClientRect();
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 0 && left >= 0 && right <= innerWidth;
  return { html: node.outerHTML.replace(${ticking}, '$1'), isSeen };
})()`;
/** What is cut off on a screen of 360 pixels, or makes it scroll sideways. */
const wide = `document.documentElement.scrollWidth === 360 ? [...document.querySelectorAll('body *')]
  .filter((node) => node.checkVisibility() && !node.closest('.unseen, thead, #skip') &&
    node.getBoundingClientRect().right > 360.5).map((node) => node.outerHTML) : ['the page']`;

describe('Every page of the console', () => {
  useTabs();
  let service: MusterService;
  let sink: Sink;
  let world: World;
  let seeded: Seeded;
  let halted: string;
  let haltedRun: string;
  let ready: string;
  let poolId: string;
  /** Objects without a page of their own, by their kinds. */
  let others: readonly (readonly [kind: string, id: string])[];
  before(async () => {
    [service, sink] = await Promise.all([delivering(), Sink.start()]);
    world = await World.create({ on: service });
    await world.anotherSpace();
    const hooks = ['a', 'b'].map((path) => `${sink.url}/${path.repeat(60)}`);
    const [, off] = await Promise.all(
      hooks.map((url) => world.mustPost('/destinations', { url, eventTypes: ['mailbox.created'] })),
    );
    seeded = await seed(world);
    const { mailboxId, runId } = seeded;
    const claim = { scopeId: runId, holder: 'h', holderSession: 's' };
    const failing = await world.mustPost(`/mailboxes/${mailboxId}/recv`, claim);
    await world.mustPost(`/messages/${failing.id}/nack`, {
      token: failing.token,
      retry: false,
      error: 'e'.repeat(200),
    });
    ready = (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: runId, payload: 1 })).id;
    const hourly = { mailboxId, scopeId: runId, payload: 1, everySeconds: 3600 };
    const paused = await world.mustPost('/schedules', { ...hourly, name: 'paused' });
    await world.call('PATCH', `/schedules/${paused.id}`, { state: 'PAUSED' });
    for (const options of [null, ['yes', hostile]])
      await world.mustPost('/questions', { scopeId: runId, holder: hostile, question: hostile, options });
    const pool = await world.mustPost('/pools', { name: `place ${hostile}`, units: 1 });
    for (const holder of ['ann', hostile])
      await world.mustPost(`/pools/${pool.id}/acquire`, {
        scopeId: runId,
        holder,
        ttlSeconds: 3600,
        leaseSeconds: 600,
      });
    poolId = pool.id;
    halted = (await world.mustPost('/mailboxes', { name: 'halted', backlogLimit: 1 })).id;
    // Bulk work that waits for room.
    const send = () => world.mustPost(`/mailboxes/${halted}/messages`, { scopeId: randomUUID(), payload: 1 });
    await send();
    const refused = await world.mustPost(`/mailboxes/${halted}/recv`, { ...claim, scopeId: '*' });
    await world.mustPost(`/messages/${refused.id}/nack`, { token: refused.token, retry: false });
    await send();
    await world.mustPost(`/mailboxes/${halted}/bulk`, { action: 'REQUEUE', state: 'REJECTED' });
    haltedRun = (await world.mustPost('/scopes', { name: 'halted' })).id;
    for (const path of [`/mailboxes/${halted}`, `/scopes/${haltedRun}`]) await world.mustPost(`${path}/pause`);
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, {
      ...{ scopeId: runId, payload: 1, workKey: 'behind', after: [{ messageId: ready }] },
    });
    const { id: hold } = await world.mustPost(`/pools/${pool.id}/acquire`, {
      scopeId: runId,
      holder: 'bob',
      ttlSeconds: 3600,
    });
    const [group, barrier, question, schedule] = await Promise.all(
      ['task-groups', 'barriers', 'questions', 'schedules'].map(
        async (list) => Object.values((await world.get(`/${list}?limit=1`)).body)[0] as { id: string }[],
      ),
    );
    const { waiters } = (await world.get('/ops/waits')).body;
    others = [
      ['waiter', waiters[0].waiterId],
      ['hold', hold],
      ...Object.entries({ group, barrier, question, schedule, destination: off ? [off] : [] }).map(
        ([kind, list]) => [kind, list?.[0]?.id ?? ''] as const,
      ),
    ];
    await untilRows(world, 4);
    await world.call('PATCH', `/destinations/${off?.id}`, { state: 'DISABLED' });
    // The other one fails: an event waits for it.
    sink.answer = (response) => {
      response.statusCode = 503;
      response.end();
    };
    await world.mustPost('/mailboxes', { name: 'unheard' });
    await untilRows(world, 5);
    await world.call('PUT', '/limits', { maxBacklog: 1 });
  });
  after(() => Promise.all([service.stop(), sink.stop()]));

  /** By the name in the address: the pages, and what is on each once it is complete. */
  const places = (): Record<string, string[][]> => ({
    '': [['', '#runs table', '#events li', '.graphs', '#waits table', '#queues table', '.concerns button']],
    mailboxes: [['/mailboxes', '#mailbox-list table']],
    failed: [['/failed?state=REJECTED', '#failed .errors li', '#failed button']],
    workers: [['/workers', '#workers table', '#staffing table']],
    find: [['/find?q=halted', '#found table']],
    questions: [['/questions', '#questions li', '#questions button']],
    runs: [['/runs', '#run-list table']],
    journal: [
      ['/journal', '#events li'],
      ['/journal?span=60', '#history li'],
    ],
    schedules: [['/schedules', '#schedules table', '#schedules button']],
    money: [['/money', '#budgets li', '#budgets button', '#allowances li', '#allowances button']],
    groups: [['/groups', '#groups table', '#barriers table']],
    keys: [['/keys', '#keys button']],
    webhooks: [['/webhooks', '#deliveries table', '#deliveries button', '#destinations table', '#destinations button']],
    mailbox: [
      ...['REJECTED', 'READY'].map((state) => [
        `/mailbox/${seeded.mailboxId}?state=${state}`,
        '#mailbox button',
        '#messages button',
        '#messages table',
      ]),
      [`/mailbox/${halted}`, '#mailbox button'],
    ],
    message: [seeded.messageId, ready].map((id) => [
      `/message/${id}`,
      '#message pre',
      '#message button',
      '#attempts :is(table, .empty)',
      '#message-graph :is(svg, .empty)',
      '#message-events li',
    ]),
    run: [
      [`/run/${seeded.runId}`, '#run table', '#run button', '#notes table', '#events li'],
      [`/run/${haltedRun}`, '#run button'],
    ],
    ...Object.fromEntries(others.map(([kind, id]) => [kind, [[`/${kind}/${id}`, '#object dl']]])),
    note: [[`/note/${seeded.runId}?key=..%2Fx`, '#note pre']],
    allowance: [
      [`/allowance/${seeded.allowanceId}`, '#allowance button', '#waiters table', '#waiters button', '#usage table'],
    ],
    pool: [[`/pool/${poolId}`, '#pool button', '#parties table', '#parties button']],
    budget: [[`/budget/${seeded.budgetId}`, '#budget table', '#budget button', '#spent figure']],
  });

  /** Goes from page to page; a page that has no place above fails here. */
  const overAll = async (tab: Tab, look: (place: string) => Promise<void>, canAct = true): Promise<void> => {
    const names = await tab.evaluate<Record<string, string[]>>(
      'import("./console/main.js").then(({ pageNames }) => pageNames)',
    );
    const known = places();
    expect(Object.keys(known)).to.have.members(Object.values(names).flat());
    for (const [place = '', ...parts] of Object.values(known).flat()) {
      await tab.go(place);
      for (const part of parts) if (canAct || !part.endsWith(' button')) await tab.page.locator(part).first().waitFor();
      await look(place);
    }
  };

  /** From 0 to 255. */
  const lightness = (tab: Tab) =>
    tab.evaluate<number>(`(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);
      return (Number(r) + Number(g) + Number(b)) / 3; })()`);
  const pause = (tab: Tab) => tab.page.getByRole('button', { name: 'Pause', exact: true }).press('Space');

  it('a page is used by keyboard alone, in reading order with a visible focus, and axe finds nothing', async () => {
    const tab = await Tab.open(world);
    const { keyboard } = tab.page;
    const passes = async (where: string) => expect(await tab.violations(), where).to.equal('[]');
    const reaches = async (where: string, least: number): Promise<void> => {
      const wanted = await tab.evaluate<string[]>(usable);
      expect(wanted.length, where).to.be.at.least(least);
      await tab.page.locator('#skip').focus();
      await tab.evaluate(`window.reached = [${focused}]; document.addEventListener('focusin', window.note = () =>
        window.reached.push(${focused}))`);
      await Promise.all(wanted.map(() => keyboard.press('Tab')));
      const reached = await tab.evaluate<object[]>(
        `document.removeEventListener('focusin', window.note); window.reached`,
      );
      // The last Tab leaves the page, or begins it anew.
      const seen = wanted.map((html) => ({ html, isSeen: true }));
      for (const [n, one] of seen.entries()) expect(reached[n], `${where} ${n}`).to.deep.equal(one);
      expect(await tab.evaluate('document.activeElement.outerHTML')).to.not.equal(wanted.at(-1));
    };
    expect(await lightness(tab)).to.be.above(200);
    await passes('signing in');
    await reaches('signing in', 5);
    await tab.page.goto(`${world.url}/console`);
    await tab.page.getByLabel('API key').fill(world.apiKey);
    await keyboard.press('Enter');
    await tab.page.locator('#spaces-list a').nth(1).waitFor();
    await passes('spaces');
    await reaches('spaces', 6);
    const asked = new Set<string>();
    await tab.go('');
    await tab.status('Live.');
    await overAll(tab, async (place) => {
      await pause(tab);
      await passes(place);
      await reaches(place, 16);
      const acts = tab.page.locator('button[data-act]');
      for (let n = 0; n < (await acts.count()); n++) {
        const act = (await acts.nth(n).getAttribute('data-act')) ?? '';
        if (asked.has(act)) continue;
        asked.add(act);
        await acts.nth(n).focus();
        const button = await tab.evaluate(focused);
        await keyboard.press('Enter');
        const dialog = tab.page.getByRole('dialog');
        await dialog.waitFor();
        expect(await tab.violations('#ask'), act).to.equal('[]');
        await keyboard.press('Escape');
        await dialog.waitFor({ state: 'hidden' });
        expect(await tab.evaluate(focused), act).to.deep.equal(button);
      }
      await pause(tab);
    });
    const all = await tab.evaluate<string[]>('import("./console/main.js").then(({ actions }) => Object.keys(actions))');
    expect([...asked]).to.have.members(all);
  });

  it('has the focus at its heading when it is opened, and no button for a key that may only read', async () => {
    const tab = await Tab.live(world);
    await overAll(
      tab,
      async (place) => {
        if (place !== '') expect(await tab.evaluate('document.activeElement.id'), place).to.equal('page-title');
        expect(await tab.page.locator('main button:is([data-act], [data-do])').count(), place).to.equal(0);
      },
      false,
    );
  });

  it('keeps the keyboard near what was done when a button has gone', async () => {
    const tab = await Tab.live(world, {}, '', world.apiKey);
    const { keyboard } = tab.page;
    await tab.go('/webhooks');
    await tab.page.getByRole('button', { name: /^Enable again/ }).focus();
    await keyboard.press('Enter');
    await tab.page.getByRole('button', { name: 'Leave it' }).waitFor();
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await tab.page.getByRole('status').filter({ hasText: 'It is active: one operation.' }).waitFor();
    await keyboard.press('Enter');
    await tab.page.locator('#destinations').getByText('DISABLED').waitFor({ state: 'detached' });
    expect(await tab.evaluate('document.activeElement.tagName')).to.be.oneOf(['BUTTON', 'H2']);
    await tab.go(`/run/${seeded.gateId}`);
    await tab.page.getByRole('button', { name: 'Stop this run…' }).focus();
    await keyboard.press('Enter');
    await tab.page.getByRole('button', { name: 'Leave it' }).waitFor();
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await tab.page.getByRole('status').filter({ hasText: 'Stopped.' }).waitFor();
    await keyboard.press('Enter');
    await tab.page.getByRole('button', { name: 'Stop this run…' }).waitFor({ state: 'detached' });
    expect(await tab.evaluate('document.activeElement.id')).to.equal('page-title');
  });

  it('fits on a phone of 360 pixels, and has no finding of axe there, dark where the system is', async () => {
    const tab = await Tab.open(world, { width: 360, colorScheme: 'dark' });
    expect(await lightness(tab)).to.be.below(60);
    const passes = async (where: string): Promise<void> => {
      expect(await tab.evaluate(wide), where).to.deep.equal([]);
      expect(await tab.violations('html', rulesOfLooks), where).to.equal('[]');
    };
    await passes('signing in');
    await tab.page.goto(`${world.url}/console`);
    await tab.signIn(world.apiKey);
    await tab.page.locator('#spaces-list a').nth(1).waitFor();
    await passes('spaces');
    await overAll(tab, passes);
    await tab.page.getByRole('button', { name: 'Change the limit…' }).click();
    await tab.page.getByRole('dialog').waitFor();
    await passes('a question');
  });
});
