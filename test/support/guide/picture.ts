// Takes the README's picture of the console, docs/console.png, in a real browser: a fleet's afternoon (npm run picture).
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createKey, createSpace } from '../../../src/primitives/org/admin.ts';
import { launchChromium } from '../chromium.ts';
import { endStore } from '../store.ts';
import { allPermissions, stopService, World } from '../world.ts';

const file = fileURLToPath(new URL('../../../docs/console.png', import.meta.url));
/** A reasonable size for a picture on the web. */
const maxBytes = 300_000;

const minute = 60_000;
const steps = 75;
const stepMs = 4 * minute;
const errors = ['the model answered 529: overloaded', 'no table of contents in chapter 7', 'the page has moved'];

/** A fleet that summarizes books: its last hours, on the test clock, and its current work. */
async function liveliness(world: World): Promise<void> {
  const now = Date.now();
  const begun = now - steps * stepMs;
  await world.at(begun);
  const mailbox = (name: string, more: object = {}) =>
    world.mustPost('/mailboxes', { name, backlogLimit: 200, ...more });
  const chapters = await mailbox('chapters', { retryDelaySeconds: 600 });
  const reviews = await mailbox('reviews');
  const results = await mailbox('summaries', { mode: 'INBOX', recipientId: 'editor' });
  const calls = await world.mustPost('/allowances', { name: 'model calls', unitsLimit: 60, windowSeconds: 3600 });
  await world.mustPost('/budgets', { name: 'tokens', currency: 'EUR', scale: 2, limitMinor: '50000' });
  const titles = ['Middlemarch', 'Moby-Dick', 'Bleak House', 'Emma', 'Walden', 'Dracula', 'Ulysses'];
  const runs: string[] = [];
  let sent = 0;
  for (let step = 0; step < steps; step++) {
    await world.at(begun + step * stepMs);
    if (step % 11 === 0) runs.unshift((await world.mustPost('/scopes', { name: titles[step / 11] })).id);
    const [scopeId = ''] = runs;
    // Work comes in waves.
    const wave = Math.round(4 + 4 * Math.sin(step / 6));
    for (let n = 0; n < wave; n++) {
      const chapter = ++sent;
      await world.mustPost(`/mailboxes/${chapters.id}/messages`, {
        scopeId,
        payload: { chapter },
        workKey: `chapter-${chapter}`,
      });
    }
    const attempts = Math.round(4 + 3 * Math.sin((step - 5) / 6));
    for (let n = 0; n < attempts; n++) await attempt(world, chapters.id, results.id, step * 8 + n);
    const claim = { scopeId: '*', holder: 'editor', holderSession: 's', max: 100 };
    const { status, body } = await world.post(`/mailboxes/${results.id}/recv`, claim);
    if (status !== 200) continue;
    for (const { id, token } of body.messages) await world.mustPost(`/messages/${id}/complete`, { token });
  }
  await world.at(now - 20_000);
  const [scopeId = ''] = runs;
  for (const file of ['preface', 'index'])
    await world.mustPost(`/mailboxes/${reviews.id}/messages`, { scopeId, payload: { file }, workKey: file });
  for (const holder of ['reader-1', 'reader-2', 'reader-3'])
    await world.mustPost(`/mailboxes/${chapters.id}/recv`, {
      scopeId: '*',
      holder,
      holderSession: 's',
      leaseSeconds: 120,
    });
  await world.mustPost(`/allowances/${calls.id}/consume`, { scopeId, holder: 'reader-1', units: 55 });
  await world.mustPost(`/allowances/${calls.id}/wait`, { scopeId, holder: 'reader-4', units: 12, ttlSeconds: 3600 });
  await world.at(now);
}

/** One attempt of a reader, which usually succeeds. */
async function attempt(world: World, mailboxId: string, resultsId: string, number: number): Promise<void> {
  const claim = { scopeId: '*', holder: `reader-${1 + (number % 3)}`, holderSession: 's' };
  const { status, body } = await world.post(`/mailboxes/${mailboxId}/recv`, claim);
  if (status !== 200) return;
  const { id, token, scopeId } = body;
  if (number % 19 === 7) {
    const error = errors[number % errors.length];
    await world.mustPost(`/messages/${id}/nack`, { token, retry: number % 2 === 0, error });
    return;
  }
  const payload = { summary: 'It was the best of times, it was the worst of times.' };
  await world.mustPost(`/messages/${id}/complete`, { token, result: { mailboxId: resultsId, scopeId, payload } });
}

const { service, org } = await World.create();
const { spaceId } = await createSpace(service, { org, name: 'library', limits: { requestsPerMinute: 100_000 } });
const { apiKey } = await createKey(service, { org, permissions: allPermissions, spaces: [spaceId] });
const world = new World(service, org, spaceId, apiKey);
await liveliness(world);
const browser = await launchChromium();
const viewport = { width: 1280, height: 900 };
const page = await browser.newPage({ viewport, colorScheme: 'light', deviceScaleFactor: 1.5 });
await page.goto(`${world.url}/console`);
await page.getByLabel('API key').fill(world.apiKey);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.getByRole('img', { name: /^Completed: / }).waitFor();
await page.getByRole('table', { name: 'Mailboxes' }).waitFor();
await page.getByRole('status').filter({ hasText: 'Live.' }).waitFor();
// Without the focus that signing in has left.
await page.mouse.move(0, 0);
await page.screenshot({ path: file });
await browser.close();
await stopService();
await endStore();
const { size } = statSync(file);
console.log(`docs/console.png: ${Math.round(size / 1000)} KB`);
if (size > maxBytes) throw new Error(`more than ${maxBytes / 1000} KB`);
process.exit(0);
