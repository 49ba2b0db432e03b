import { randomUUID } from 'node:crypto';
import type { World } from '../support/world.ts';

/** A name that would run a script, or break the page, if it became markup. */
export const hostile = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';

export interface Seeded {
  readonly runId: string;
  readonly gateId: string;
  readonly mailboxId: string;
  readonly budgetId: string;
  readonly allowanceId: string;
  /** A rejected one. */
  readonly messageId: string;
}

/** Creates an object of every kind that the console shows, with the most hostile names that callers can choose. */
export async function seed(world: World): Promise<Seeded> {
  const runId = randomUUID();
  const mailbox = await world.mustPost('/mailboxes', { name: `jobs ${hostile}`, backlogLimit: 10 });
  await world.mustPost('/mailboxes', { name: 'w'.repeat(200), mode: 'INBOX', recipientId: 'somebody' });
  for (const file of ['a', 'b', 'c'])
    await world.mustPost(`/mailboxes/${mailbox.id}/messages`, { scopeId: runId, payload: { file }, workKey: file });
  const claim = { scopeId: runId, holder: `agent ${hostile}`, holderSession: 's' };
  await world.mustPost(`/mailboxes/${mailbox.id}/recv`, claim);
  const failing = await world.mustPost(`/mailboxes/${mailbox.id}/recv`, claim);
  await world.mustPost(`/messages/${failing.id}/nack`, { token: failing.token, retry: false });

  const budget = { name: `llm spend ${hostile}`, currency: 'EUR', scale: 2, limitMinor: '999999999999999999' };
  const { id: budgetId } = await world.mustPost('/budgets', budget);
  const reserved = await world.mustPost(`/budgets/${budgetId}/reserve`, {
    scopeId: runId,
    holder: 'planner',
    amountMinor: '600000000000000000',
  });
  const settlement = { reservationId: reserved.id, amountMinor: '250000000000000000', workKey: 'step-1' };
  await world.mustPost(`/budgets/${budgetId}/settle`, settlement);
  await world.mustPost('/budgets', { name: 'nothing', currency: 'USD', scale: 0, limitMinor: '0' });

  const group = await world.mustPost('/task-groups', {
    parentScopeId: runId,
    mailboxId: mailbox.id,
    condition: 'N_ACCEPTED',
    threshold: 2,
  });
  for (const taskKey of ['x', 'y']) await world.mustPost(`/task-groups/${group.groupId}/tasks`, { taskKey, input: 1 });

  const barrier = await world.mustPost('/barriers', { scopeId: runId, target: 3 });
  await world.mustPost(`/barriers/${barrier.id}/arrive`, { arrivalKey: 'one' });

  const allowance = await world.mustPost('/allowances', {
    name: `calls ${hostile}`,
    unitsLimit: 10,
    windowSeconds: 3600,
  });
  const use = { scopeId: runId, holder: 'agent-1' };
  await world.mustPost(`/allowances/${allowance.id}/consume`, { ...use, units: 7 });
  await world.mustPost(`/allowances/${allowance.id}/wait`, { ...use, units: 9, ttlSeconds: 3600 });
  await world.mustPost(`/allowances/${allowance.id}/wait`, { ...use, holder: hostile, units: 1, ttlSeconds: 3600 });
  await world.mustPost(`/allowances/${allowance.id}/cooldown`, { seconds: 600, reason: hostile });
  const timing = {
    mailboxId: mailbox.id,
    scopeId: runId,
    payload: hostile,
    cron: '0 9 * * 1-5',
    timezone: 'Europe/Berlin',
  };
  for (const key of [`plan ${hostile}`, '../x'])
    await world.call('PUT', `/scopes/${runId}/notes/${encodeURIComponent(key)}`, { value: { text: hostile, big: 1 } });
  await world.mustPost('/schedules', { ...timing, name: `report ${hostile}` });
  return {
    ...{ runId, gateId: group.scopeId, mailboxId: mailbox.id, messageId: failing.id },
    ...{ budgetId, allowanceId: allowance.id },
  };
}
