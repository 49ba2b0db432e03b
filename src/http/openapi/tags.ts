/** The groups of calls, as a reader goes through them: title and what they are for. */
const known: Readonly<Record<string, readonly [title: string, description: string]>> = {
  mailbox: ['Mailboxes', 'Work queues and inboxes: send, receive under a claim, renew, complete or give back.'],
  group: ['Task groups', 'One decision for many tasks.'],
  budget: ['Budgets', 'Money that cannot be overspent: reserve, settle, void.'],
  barrier: ['Barriers', 'Everybody waits for everybody, again and again.'],
  allowance: ['Allowances', 'Shared quotas per window, waiting in order, cooldowns.'],
  schedule: ['Schedules', 'Messages sent on time.'],
  scope: ['Runs', 'Scopes: what belongs to a run, and stopping it.'],
  event: ['Events', 'The journal: read it or watch it.'],
  webhook: ['Webhooks', 'The journal, delivered to an address.'],
  space: ['Space', 'Limits, figures, who waits for what, usage, and many calls in one request.'],
  system: ['System', 'Without a key.'],
};

/** Tags in this order; those of other rooms come last. */
export function tagsOf(names: readonly string[]): object[] {
  const found = new Set(names);
  const ordered = [
    ...Object.keys(known).filter((name) => found.has(name)),
    ...[...found].filter((name) => !(name in known)),
  ];
  return ordered.map((name) => {
    const [title, description] = known[name] ?? [];
    return { name, ...(title !== undefined && { 'x-displayName': title, description }) };
  });
}
