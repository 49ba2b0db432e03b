import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runCommand } from '../../src/cli/program.ts';
import { screen } from '../../src/cli/top.ts';
import { failure, record } from '../support/cli.ts';
import { World } from '../support/world.ts';

describe('muster top', () => {
  let world: World;
  let settings: Record<string, string>;
  before(async () => {
    world = await World.create();
    const key = await world.key(['coordination_read']);
    settings = { MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: key };
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.mustPost('/mailboxes', { name: 'idle' });
    const scopeId = randomUUID();
    for (const n of [1, 2, 3]) await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: n });
    await world.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
    const { id: budgetId } = await world.mustPost('/budgets', {
      name: 'llm',
      currency: 'EUR',
      scale: 2,
      limitMinor: '1000',
    });
    await world.mustPost(`/budgets/${budgetId}/reserve`, { scopeId, holder: 'h', amountMinor: '5' });
    await world.mustPost('/allowances', { name: 'api', unitsLimit: 100, windowSeconds: 60 });
  });

  /** What it draws on a terminal of so many rows. */
  async function drawn(rows: number, ...more: string[]): Promise<string[]> {
    const printed: string[] = [];
    const stdout = { write: (text: unknown) => printed.push(String(text)) > 0, isTTY: true, rows };
    const stderr = { write: (text: unknown) => printed.push(String(text)) > 0 };
    const env = { ...process.env, ...settings };
    expect(await runCommand(['top', '--interval', '0.1', ...more], { env, stdout, stderr })).to.equal(null);
    return printed.map((text) => text.replace('\x1b[H\x1b[J', ''));
  }

  it('draws what waits, mailboxes, budgets and allowances, and what became of messages', async () => {
    const screens = await drawn(40, '--count', '2');
    expect(screens).to.have.length(2);
    const lines = screens.map((screen) => screen.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim()));
    // The age of the oldest message depends on how fast the machine is.
    const aged = (lines[0] ?? []).map((line) => line.replace(/\b\d+ s$/, '0 s'));
    expect(aged).to.include.members([
      'messages 2 READY 1 CLAIMED oldest 0 s',
      'last hour 3 sent 1 claimed',
      'mailbox ready delayed blocked claimed failed acked oldest',
      'jobs 2 0 0 1 0 0 0 s',
      'idle 0 0 0 0 0 0 -',
      'llm 10.00 EUR 0.00 EUR 0.05 EUR 9.95 EUR',
      'api 0 100 0 -',
    ]);
    expect(aged.indexOf('jobs 2 0 0 1 0 0 0 s')).to.be.below(aged.indexOf('idle 0 0 0 0 0 0 -'));
    expect(lines[1]?.find((line) => line.startsWith('last min'))).to.match(/^last min (-|3 sent 1 claimed)$/);
  });

  it('fits its screen', async () => {
    for (let n = 0; n < 30; n++) await world.mustPost('/mailboxes', { name: `n-${n}` });
    const [screen = ''] = await drawn(24, '--count', '1');
    expect(screen.split('\n').length).to.be.within(20, 24);
    expect(screen).to.match(/^… and \d+$/m);
  });

  it('shows no age below 0, though mailboxes are read after the moment that ages count from', async () => {
    const look = await record(['top'], settings);
    const asOf = new Date(Date.parse(look.backlog.asOf) - 60_000).toISOString();
    const drawn = screen({ ...look, backlog: { ...look.backlog, asOf } }, 40);
    expect(drawn).to.match(/^jobs .* 0 s$/m);
  });

  it('prints one JSON value in a pipe', async () => {
    const look = await record(['top'], settings);
    expect(Object.keys(look)).to.deep.equal(['backlog', 'census', 'figures', 'mailboxes', 'budgets', 'allowances']);
    expect(look.backlog).to.include({ readyMessages: 2, claimedMessages: 1 });
    expect(look.figures.tens.reduce((sum: number, { sent }: { sent: number }) => sum + sent, 0)).to.equal(3);
  });

  it('says at once that the space is at its rate, though its requests could be repeated in the next minute', async () => {
    const busy = await World.create({ limits: { requestsPerMinute: 1 } });
    const key = await busy.key(['coordination_read']);
    const { code } = await failure(['top'], { MUSTER_URL: busy.url, MUSTER_SPACE: busy.spaceId, MUSTER_KEY: key });
    expect(code).to.equal('RATE_LIMITED');
  });

  it('says what is missing, wrong or away', async () => {
    expect((await failure(['top'], { ...settings, MUSTER_KEY: '' })).message).to.match(/^MUSTER_KEY is not set: /);
    expect((await failure(['top'], { ...settings, MUSTER_KEY: 'x' })).code).to.equal('INVALID_API_KEY');
    expect((await failure(['top', '--interval', '0'], settings)).message).to.match(/--interval must be a number from/);
    expect((await failure(['top', '--count', '2.5'], settings)).message).to.match(
      /--count must be a whole number from/,
    );
  });
});
