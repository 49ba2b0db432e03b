/** What a tool is for, when to call it and what comes back, for a model that knows nothing of Muster. */
export interface Words {
  readonly title: string;
  readonly description: string;
  /** Ends or takes back something for good. */
  readonly destructive?: true;
  /** The same call again, once it was answered, changes nothing more (whatever its idempotencyKey). */
  readonly repeatable?: true;
}

/**
 * The tools: calls that an agent makes, by their names. Refusals, parameters and permissions come from the routes: a line
 * here is all that a new tool needs.
 */
export const words: Readonly<Record<string, Words>> = {
  'mailbox.list': {
    title: 'Find mailboxes',
    description:
      'Find where work comes from and where to send it: each mailbox is a queue, with how many messages are ready, delayed, claimed and failed in it. Call it first when you know a name but no id.',
  },
  'message.recv': {
    title: 'Receive work',
    description:
      'Take the next message from a mailbox to work on it. It is yours alone until leaseExpiresAt; keep its `id` and `token`, which message_renew, message_complete and message_nack need. With waitSeconds it waits for one. null: none to take yet. Call again at once (one may just have come), or stop if you know that all work is done. `lastError` and `progress` tell what an earlier attempt left. Take only what you are going to finish or give back.',
  },
  'message.renew': {
    title: 'Report progress, keep the claim',
    description:
      'Keep a message that you are still working on, before leaseExpiresAt, else another agent gets it. `progress` is kept for whoever makes the next attempt. Call it about every third of the lease.',
    repeatable: true,
  },
  'message.complete': {
    title: 'Complete work',
    description:
      'Say that the message is done, with its result if it has one. Nobody gets it again. Call it once the work itself is safe; only after this answer is the work counted as done. `result` with mailboxId and scopeId is also sent on as a new message, in the same step.',
    repeatable: true,
  },
  'message.nack': {
    title: 'Give work back',
    description:
      'Give a message back that you cannot finish: retry true for another attempt (by anybody, after a pause), retry false when no attempt can succeed, which ends it for good. Say why in `error`: the next attempt sees it as lastError.',
    destructive: true,
  },
  'message.send': {
    title: 'Send work',
    description:
      'Put a message into a mailbox, for another agent or for later. Use a workKey that names the work (a file, a ticket): sent again with the same one, it answers the first message (replay true) and sends nothing. Keep the id to wait for the end with message_view.',
  },
  'message.view': {
    title: 'See a message, wait for its end',
    description:
      'See a message with its state, payload and result: what has become of work that you sent. With waitSeconds it answers when the message has ended (ACKED: done, with `result`; REJECTED, FAILED, EXPIRED, CANCELLED: not done, see `reason` and `lastError`) or the time is over; look at `state`.',
  },
  'group.create': {
    title: 'Create a task group',
    description:
      'Begin work that is judged as a whole: tasks submitted to the group are delivered through a WORK mailbox, and the group is decided once, at the first accepted result (FIRST_ACCEPTED), at `threshold` of them (N_ACCEPTED), or when all tasks have ended (ALL_TERMINAL). Agents receive its tasks from that mailbox with the group’s scopeId, or with "*".',
  },
  'task.submit': {
    title: 'Submit a task',
    description:
      'Add a task to an open group. `input` is what the worker gets as payload; taskKey names the task within the group.',
  },
  'group.seal': {
    title: 'Seal a task group',
    description:
      'Say that no more tasks come. ALL_TERMINAL needs it to be decided; the others need it to find out that they cannot be satisfied any more.',
    repeatable: true,
  },
  'group.view': {
    title: 'See a task group, wait for its decision',
    description:
      'See a group with its members: their states, results (`outcome`) and verdicts. With waitSeconds it answers when the group is DECIDED (its `outcome` is SATISFIED, UNSATISFIABLE, EXPIRED or CANCELLED) or the time is over. Without it, call it to find SUCCEEDED members that wait for a verdict.',
  },
  'task.accept': {
    title: 'Accept a result',
    description:
      'Judge a SUCCEEDED task of a group as good. Look at its `outcome` with group_view first: the first verdict stands, and it may decide the group.',
    repeatable: true,
  },
  'task.reject': {
    title: 'Reject a result',
    description:
      'Judge a task of a group that has ended as not good enough. The first verdict stands; the group goes on with its other tasks.',
    destructive: true,
    repeatable: true,
  },
  'budget.list': {
    title: 'Find budgets',
    description:
      'Find the budget that pays for what you are about to do, with what is available in it. Amounts are digit strings in minor units (cents, at scale 2).',
  },
  'budget.reserve': {
    title: 'Reserve money',
    description:
      'Set the most that a costly step may cost aside, before you begin it; begin only if this succeeds. Then budget_settle what it did cost, and budget_void the rest. With a workKey that names the step, another attempt finds this reservation (replay true) and reserves nothing.',
  },
  'budget.settle': {
    title: 'Settle a cost',
    description:
      'Book what a step did cost against its reservation; what is left stays reserved until budget_void. If it did cost more than is left, set overrun: what was really spent is recorded. A workKey makes it safe to repeat.',
    repeatable: true,
  },
  'budget.void': {
    title: 'Release what was not used',
    description:
      'Give what is left of a reservation back to the budget and close it. Call it when the step is over or given up.',
    destructive: true,
    repeatable: true,
  },
  'allowance.list': {
    title: 'Find allowances',
    description:
      'Find the shared quota (requests to an outside API, say) that limits what you are about to do, with the units that are left in its current window.',
  },
  'allowance.consume': {
    title: 'Use a quota now',
    description:
      'Take units of a shared quota, just before using what it limits. Refused when too few are left or others wait: then call allowance_wait. With a workKey a repeated call takes nothing more.',
  },
  'allowance.wait': {
    title: 'Queue for a quota',
    description:
      'Take units at once (state GRANTED: go ahead) or join the queue for them (WAITING): then call waiter_view with waitSeconds until it is GRANTED. Your place ends after ttlSeconds; waiter_renew keeps it longer.',
  },
  'waiter.view': {
    title: 'Wait in the queue for a quota',
    description:
      'See your place in the queue of an allowance. With waitSeconds it answers when you are GRANTED (the units are yours: go ahead), or EXPIRED or CANCELLED (queue again), or the time is over (still WAITING: call again).',
  },
  'waiter.renew': {
    title: 'Keep a place in the queue',
    description:
      'Go on waiting: ttlSeconds count from now, and your place stays. Call it about every third of ttlSeconds while waiter_view says WAITING.',
    repeatable: true,
  },
  'barrier.arrive': {
    title: 'Arrive at a barrier',
    description:
      'Say that you have reached a point where all agents meet. Use an arrivalKey of your own (your name, say): it counts once in each epoch. If the answer’s state is OPEN, wait for the others with barrier_view.',
    repeatable: true,
  },
  'barrier.view': {
    title: 'Wait at a barrier',
    description:
      'See how many have arrived. With waitSeconds it answers when the barrier is RELEASED (go on), CANCELLED (stop), or the time is over (still OPEN: call again). Pass the `epoch` at which you arrived.',
  },
  'run.view': {
    title: 'See a run',
    description:
      'See all that belongs to a run: its messages, groups, barriers, reservations, waiters. Call it to report how a run stands or to find what is stuck. Lists are cut at 200 (`truncated`), and leave payloads out.',
  },
  'waits.get': {
    title: 'See who waits for what',
    description:
      'See which tasks and agents wait, for what and since when, and who holds which message or quota until when. Call it when nothing seems to move.',
  },
  'event.watch': {
    title: 'Read the journal, wait for events',
    description:
      'Read what has happened in the space, oldest first. With waitSeconds it waits for the next matching event. Pass nextCursor of each answer as `cursor` of the next call; begin with cursor "latest" for what happens from now on.',
  },
  'scope.cancel': {
    title: 'Stop a run',
    description:
      'Stop a run for good: everything that is live in the scope and below it is cancelled, and agents that work on it lose their claims. Call it only if you were asked to stop this run, or you own it. Again it answers how far that has come (`done`).',
    destructive: true,
    repeatable: true,
  },
};
