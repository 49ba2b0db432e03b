/** Every event type, by aggregate (contract section 5). The part before the dot is the aggregate. */
export const eventTypes: readonly string[] = [
  ...['created', 'reserved', 'settled', 'voided', 'reservation_overdue'].map((what) => `budget.${what}`),
  'mailbox.created',
  ...['sent', 'claimed', 'acked', 'retried', 'rejected', 'failed', 'lease_expired', 'expired', 'cancelled'].map(
    (what) => `message.${what}`,
  ),
  ...['created', 'sealed', 'task_joined', 'decided'].map((what) => `group.${what}`),
  ...['submitted', 'started', 'succeeded', 'failed', 'expired', 'cancelled', 'accepted', 'rejected'].map(
    (what) => `task.${what}`,
  ),
  ...['created', 'arrived', 'released', 'cancelled', 'epoch_advanced'].map((what) => `barrier.${what}`),
  ...['created', 'consumed', 'cooldown_started'].map((what) => `allowance.${what}`),
  ...['queued', 'granted', 'cancelled', 'expired'].map((what) => `waiter.${what}`),
  'limits.updated',
  'scope.created',
  ...['created', 'disabled'].map((what) => `destination.${what}`),
  'delivery.exhausted',
];

export const aggregates: readonly string[] = [...new Set(eventTypes.map((type) => type.slice(0, type.indexOf('.'))))];
