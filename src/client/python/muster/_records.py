# Generated from the OpenAPI document by `npm run generate`.
"""The records that calls answer, and the arguments that are objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._record import Record

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from ._arguments import Id

__all__ = [
    'ErrorCode',
    'Allowance',
    'AllowanceList',
    'Backlog',
    'Balances',
    'Barrier',
    'BarrierList',
    'Budget',
    'BudgetBalances',
    'BudgetList',
    'BudgetSettle',
    'BudgetView',
    'BudgetViewBalances',
    'BudgetVoid',
    'CancelledRun',
    'CancelledRunCancelled',
    'Census',
    'Claim',
    'Claims',
    'CompletedMessage',
    'Consumption',
    'ConsumptionTotals',
    'Cooldown',
    'CreatedGroup',
    'Delivery',
    'DeliveryList',
    'Destination',
    'DestinationList',
    'Entry',
    'Event',
    'EventList',
    'EventWatch',
    'GroupList',
    'HeldClaim',
    'HeldGrant',
    'JoinedTask',
    'JudgedTask',
    'Mailbox',
    'MailboxCounts',
    'MailboxList',
    'Message',
    'MessageCompleteResult',
    'MessageList',
    'MessageSummary',
    'NackedMessage',
    'NewDestination',
    'Purged',
    'RenewedClaim',
    'Requeued',
    'Reservation',
    'Reserved',
    'RunView',
    'Schedule',
    'ScheduleList',
    'ScheduleSummary',
    'Scope',
    'ScopeList',
    'ScopeLive',
    'SealedGroup',
    'SentMessage',
    'SpaceLimits',
    'SpaceList',
    'SubmittedTask',
    'Task',
    'TaskGroup',
    'TaskGroupCounts',
    'TaskGroupSummary',
    'TaskGroupSummaryCounts',
    'TaskSummary',
    'Usage',
    'UsageDay',
    'VisibleSpace',
    'Waiter',
    'WaitingSchedule',
    'WaitingTask',
    'WaitingWaiter',
    'Waits',
]


ErrorCode = Literal[
    'ACTIVE_RUNS_LIMITED',
    'ACTIVE_TASKS_LIMITED',
    'ALLOWANCE_COOLING_DOWN',
    'ALLOWANCE_EXHAUSTED',
    'ALLOWANCE_EXISTS',
    'ALLOWANCE_NOT_FOUND',
    'BACKLOG_FULL',
    'BARRIER_CANCELLED',
    'BARRIER_NOT_FOUND',
    'BARRIER_NOT_RELEASED',
    'BARRIER_RELEASED',
    'BUDGET_EXISTS',
    'BUDGET_NOT_FOUND',
    'CLAIM_LOST',
    'CONCURRENCY_LIMITED',
    'CURSOR_EXPIRED',
    'DELIVERY_NOT_FOUND',
    'DESTINATIONS_FULL',
    'DESTINATION_NOT_FOUND',
    'DESTINATION_URL_FORBIDDEN',
    'ENTITLEMENT_EXCEEDED',
    'EPOCH_MISMATCH',
    'EVENTS_DAMAGED',
    'GROUP_DECIDED',
    'GROUP_FULL',
    'GROUP_NOT_FOUND',
    'GROUP_NOT_OPEN',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REQUIRED',
    'IDEMPOTENCY_KEY_REUSED',
    'INSUFFICIENT_BUDGET',
    'INTERNAL',
    'INVALID_API_KEY',
    'INVALID_CURSOR',
    'INVALID_DATE_RANGE',
    'LEASE_LIMIT_EXCEEDED',
    'LIMIT_BELOW_USE',
    'MAILBOX_MODE_INVALID',
    'MAILBOX_NOT_EMPTY',
    'MAILBOX_NOT_FOUND',
    'MALFORMED_JSON',
    'MESSAGES_DAMAGED',
    'MESSAGE_FINISHED',
    'MESSAGE_NOT_FOUND',
    'MESSAGE_NOT_REQUEUABLE',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'PERMISSION_DENIED',
    'RATE_LIMITED',
    'RECIPIENT_MISMATCH',
    'RESERVATION_CLOSED',
    'RESERVATION_NOT_FOUND',
    'SCHEDULES_FULL',
    'SCHEDULE_ENDED',
    'SCHEDULE_EXISTS',
    'SCHEDULE_NOT_FOUND',
    'SCOPE_CANCELLED',
    'SCOPE_CHILDREN_FULL',
    'SCOPE_CONFLICT',
    'SCOPE_DEPTH_EXCEEDED',
    'SCOPE_NOT_FOUND',
    'SERVICE_RATE_LIMITED',
    'SETTLEMENT_EXCEEDS_RESERVATION',
    'SPACE_NOT_FOUND',
    'STORE_UNAVAILABLE',
    'TASK_KEY_CONFLICT',
    'TASK_NOT_FOUND',
    'TASK_NOT_JOINABLE',
    'TASK_NOT_SUCCEEDED',
    'TASK_NOT_TERMINAL',
    'TIMERS_FULL',
    'UNAUTHENTICATED',
    'UNITS_EXCEED_LIMIT',
    'UNSUPPORTED_MEDIA_TYPE',
    'VALIDATION_FAILED',
    'VERDICT_CONFLICT',
    'WAITERS_FULL',
    'WAITER_NOT_FOUND',
    'WAITER_NOT_WAITING',
    'WORK_KEY_CONFLICT',
]
"""The possible values of `code` in an error answer."""


class SpaceLimits(Record):
    """A record of the API: `SpaceLimits`."""
    __slots__ = ()
    requests_per_minute: int
    """the most requests of a UTC minute; recovery calls are counted but never refused."""
    max_backlog: int
    """the most messages of the space that have not ended."""
    max_payload_bytes: int
    """the most bytes of a payload, input or result, as compact JSON."""
    max_lease_seconds: int
    """the longest lease that a claim may ask for."""
    max_pending_waiters: int
    """the most who wait for units at once."""
    max_armed_timers: int
    """the most deadlines, delays and settleBy moments that are still ahead."""


class Census(Record):
    """A record of the API: `Census`."""
    __slots__ = ()
    as_of: str
    """the moment of these figures."""
    scopes: dict[str, int]
    """how many scopes are in which state."""
    claims: dict[str, int]
    """how many live claims there are."""
    messages: dict[str, int]
    """how many messages are in which state."""
    tasks: dict[str, int]
    """how many tasks are in which state."""
    groups: dict[str, int]
    """how many groups are in which state."""
    reservations: dict[str, int]
    """how many reservations are in which state."""
    barriers: dict[str, int]
    """how many barriers are in which state."""
    waiters: dict[str, int]
    """how many waiters are in which state."""
    schedules: dict[str, int]
    """how many schedules are in which state."""
    timers: dict[str, int]
    """deadlines, delays and other moments that are still ahead."""
    events: dict[str, int]
    """how often each of these types has happened in the space."""


class Backlog(Record):
    """A record of the API: `Backlog`."""
    __slots__ = ()
    as_of: str
    """the moment of these figures."""
    ready_messages: int
    """how many messages are READY."""
    delayed_messages: int
    """how many messages are DELAYED."""
    claimed_messages: int
    """how many messages are CLAIMED."""
    oldest_ready_age_seconds: int | None
    """for how long the oldest READY message has been ready; null: there is none."""
    waiting_waiters: int
    """how many wait for units."""
    oldest_waiter_age_seconds: int | None
    """for how long the first of them has waited; null: nobody waits."""
    armed_timers: int
    """how many deadlines, delays and other moments are still ahead."""
    outbox: dict[str, int]
    """events on their way to destinations."""


class HeldClaim(Record):
    """A record of the API: `HeldClaim`."""
    __slots__ = ()
    message_id: str
    """the message's id."""
    mailbox_id: str
    """the mailbox's id."""
    task_id: str | None
    """the task's id; null: it carries no task."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    holder_session: str
    """which session of its holder."""
    attempt: int
    """which attempt this is: 1 for the first."""
    claimed_at: str
    """when the present or last claim began."""
    lease_expires_at: str
    """when the claim ends unless it is renewed."""


class WaitingTask(Record):
    """A record of the API: `WaitingTask`."""
    __slots__ = ()
    task_id: str
    """the task's id."""
    group_id: str | None
    """the group's id; null: of no group."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    waiting_since: str
    """since when it has waited."""
    ready_at: str | None
    """when a DELAYED one is to be received; null: it is not delayed."""
    position: int | None
    """its place in the queue; 1 is the next."""
    blocked_by: Literal['HEAD_OF_LINE', 'DELAY', 'RETRY', 'RECEIVER']
    """what it waits for."""


class WaitingWaiter(Record):
    """A record of the API: `WaitingWaiter`."""
    __slots__ = ()
    waiter_id: str
    """the waiter's id."""
    allowance_id: str
    """the allowance's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    units: int
    """how many units."""
    position: int
    """its place in the queue; 1 is the next."""
    waiting_since: str
    """since when it has waited."""
    expires_at: str
    """when it gives up waiting."""
    blocked_by: Literal['HEAD_OF_LINE', 'WINDOW', 'COOLDOWN']
    """what it waits for."""
    blocked_until: str | None
    """it is not granted before this moment; null: not known."""


class HeldGrant(Record):
    """A record of the API: `HeldGrant`."""
    __slots__ = ()
    waiter_id: str
    """the waiter's id."""
    allowance_id: str
    """the allowance's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    units: int
    """how many units."""
    window_ends_at: str
    """when the window ends."""


class WaitingSchedule(Record):
    """A record of the API: `WaitingSchedule`."""
    __slots__ = ()
    schedule_id: str
    """the schedule's id."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the last moment that it sent a message for; null: none yet."""
    missed: int
    """how many moments passed while nothing ran; of those only the last was sent."""


class Waits(Record):
    """A record of the API: `Waits`."""
    __slots__ = ()
    _records = {
        'heldClaims': HeldClaim,
        'waitingTasks': WaitingTask,
        'waiters': WaitingWaiter,
        'heldGrants': HeldGrant,
        'schedules': WaitingSchedule,
    }
    as_of: str
    """the moment of these figures."""
    held_claims: list[HeldClaim]
    """who works on what."""
    waiting_tasks: list[WaitingTask]
    """tasks that nobody works on yet, and why."""
    waiters: list[WaitingWaiter]
    """the waiters."""
    held_grants: list[HeldGrant]
    """who was granted units of a window that has not ended."""
    schedules: list[WaitingSchedule]
    """the schedules."""
    truncated: bool
    """whether there is more than is shown."""


class UsageDay(Record):
    """A record of the API: `UsageDay`."""
    __slots__ = ()
    date: str
    """the UTC day."""
    syscalls: int
    """operations, successful renewals, replays and receives that found nothing."""
    operations: int
    """what counts towards the plan: the sum of byCall."""
    by_call: dict[str, int]
    """operations by the name of their call."""
    retained_bytes: int
    """what was kept at the end of the day, payloads and journal."""


class Usage(Record):
    """A record of the API: `Usage`."""
    __slots__ = ()
    _records = {
        'days': UsageDay,
    }
    from_: str
    """the first UTC day, inclusive."""
    to: str
    """the last UTC day, inclusive."""
    days: list[UsageDay]
    """one for each UTC day."""


class ScopeLive(Record):
    """how much has not ended, in the scope and all below it."""
    __slots__ = ()
    messages: int
    """how many messages."""
    waiters: int
    """how many waiters."""


class Scope(Record):
    """A record of the API: `Scope`."""
    __slots__ = ()
    _records = {
        'live': ScopeLive,
    }
    id: str
    """the record's id."""
    parent_scope_id: str | None
    """the scope that it is below; null: it is a run of its own."""
    name: str | None
    """for people, and to find it by."""
    state: Literal['ACTIVE', 'IDLE', 'CANCELLED']
    """the state it is in now."""
    live: ScopeLive
    """how much has not ended, in the scope and all below it."""
    created_at: str
    """when it was made."""


class ScopeList(Record):
    """A record of the API: `ScopeList`."""
    __slots__ = ()
    _records = {
        'scopes': Scope,
    }
    scopes: list[Scope]
    """the scopes."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class MessageSummary(Record):
    """A record of the API: `MessageSummary`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    task_id: str | None
    """the task's id; null: it carries no task."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null while it has not, or where the state says it."""
    attempts: int
    """how often it has been handed out."""
    max_attempts: int
    """how often a message is handed out before it is FAILED."""
    last_error: str | None
    """what the last attempt that gave an error said; null: none did."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""
    ready_at: str | None
    """when a DELAYED one is to be received; null: it is not delayed."""
    holder: str | None
    """who holds it: a name that the caller chose."""
    holder_session: str | None
    """which session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    created_at: str
    """when it was made."""
    finished_at: str | None
    """when it ended; null before."""


class TaskGroupSummaryCounts(Record):
    """how many tasks are in which state."""
    __slots__ = ()
    members: int
    """how many tasks the group has."""
    pending: int
    """how many are not worked on yet."""
    running: int
    """how many are worked on."""
    succeeded: int
    """how many were completed."""
    failed: int
    """how many failed or were rejected by their worker."""
    expired: int
    """how many reached their deadline."""
    cancelled: int
    """how many were cancelled."""
    accepted: int
    """how many results were accepted."""
    rejected: int
    """how many results were rejected."""


class TaskSummary(Record):
    """A record of the API: `TaskSummary`."""
    __slots__ = ()
    task_id: str
    """the task's id."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    verdict: Literal['ACCEPTED', 'REJECTED'] | None
    """what was said of its result: ACCEPTED or REJECTED; null: nothing yet."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null while it has not, or where the state says it."""
    attempts: int
    """how often it has been handed out."""
    message_id: str
    """the message's id."""
    last_error: str | None
    """what the last attempt that gave an error said; null: none did."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""


class TaskGroupSummary(Record):
    """A record of the API: `TaskGroupSummary`."""
    __slots__ = ()
    _records = {
        'counts': TaskGroupSummaryCounts,
        'members': TaskSummary,
    }
    id: str
    """the record's id."""
    group_id: str
    """the group's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    parent_scope_id: str | None
    """the scope that it is below; null: it is a run of its own."""
    mailbox_id: str
    """the mailbox's id."""
    condition: Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL']
    """what decides the group: the first accepted task, `threshold` accepted ones, or the end of all."""
    threshold: int | None
    """how many accepted tasks decide an N_ACCEPTED group."""
    state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the state it is in now."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """how the group was decided; null while it is not."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""
    counts: TaskGroupSummaryCounts
    """how many tasks are in which state."""
    members: list[TaskSummary]
    """the tasks of the group."""
    created_at: str
    """when it was made."""
    sealed_at: str | None
    """since when no task can be added; null: it is still open."""
    decided_at: str | None
    """when it was decided; null: it is not."""


class Reservation(Record):
    """A record of the API: `Reservation`."""
    __slots__ = ()
    id: str
    """the record's id."""
    budget_id: str
    """the budget's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    settled_minor: str
    """how much was spent of it, and beyond it by an overrun, in minor units."""
    voided_minor: str
    """how much of it was given back, in minor units."""
    remaining_minor: str
    """how much of it is still set aside, in minor units."""
    state: Literal['ACTIVE', 'SETTLED', 'VOIDED']
    """the state it is in now."""
    settle_by: str | None
    """when it should be settled; later it is marked overdue; null: whenever."""
    overdue: bool
    """whether settleBy has passed while something is still set aside."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    created_at: str
    """when it was made."""
    closed_at: str | None
    """when nothing of it was left; null before."""


class Barrier(Record):
    """A record of the API: `Barrier`."""
    __slots__ = ()
    id: str
    """the record's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    state: Literal['OPEN', 'RELEASED', 'CANCELLED']
    """the state it is in now."""
    epoch: int
    """which round this is: 1 for the first; nextEpoch begins another."""
    arrivals: int
    """how many have arrived in this epoch."""
    target: int
    """how many arrivals release it."""
    created_at: str
    """when it was made."""
    released_at: str | None
    """when it was released; null: it is not."""


class Waiter(Record):
    """A record of the API: `Waiter`."""
    __slots__ = ()
    id: str
    """the record's id."""
    waiter_id: str
    """the waiter's id."""
    allowance_id: str
    """the allowance's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    units: int
    """how many units."""
    state: Literal['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED']
    """the state it is in now."""
    position: int | None
    """its place in the queue; 1 is the next."""
    expires_at: str
    """when it gives up waiting."""
    granted_at: str | None
    """when its units were granted; null: they are not."""
    created_at: str
    """when it was made."""


class ConsumptionTotals(Record):
    """A record of the API: `ConsumptionTotals`."""
    __slots__ = ()
    count: int
    """how many consumptions."""
    units: int
    """how many units in all."""


class ScheduleSummary(Record):
    """A record of the API: `ScheduleSummary`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    cron: str | None
    """when it sends, as a cron expression; null: it goes by everySeconds."""
    every_seconds: int | None
    """the seconds between two messages, counted from creation; null: it goes by cron."""
    timezone: str
    """the IANA time zone of cron."""
    max_attempts: int | None
    """how often a message is handed out before it is FAILED."""
    state: Literal['ACTIVE', 'PAUSED', 'ENDED']
    """the state it is in now."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the last moment that it sent a message for; null: none yet."""
    last_message_id: str | None
    """the message that it sent last; null: none yet."""
    missed: int
    """how many moments passed while nothing ran; of those only the last was sent."""
    created_at: str
    """when it was made."""


class RunView(Record):
    """A record of the API: `RunView`."""
    __slots__ = ()
    _records = {
        'scope': Scope,
        'scopes': Scope,
        'messages': MessageSummary,
        'groups': TaskGroupSummary,
        'reservations': Reservation,
        'barriers': Barrier,
        'waiters': Waiter,
        'consumptions': ConsumptionTotals,
        'schedules': ScheduleSummary,
    }
    scope: Scope
    """the scope itself."""
    scopes: list[Scope]
    """the scopes."""
    messages: list[MessageSummary]
    """the messages."""
    groups: list[TaskGroupSummary]
    """the groups."""
    reservations: list[Reservation]
    """the reservations."""
    barriers: list[Barrier]
    """the barriers."""
    waiters: list[Waiter]
    """the waiters."""
    consumptions: ConsumptionTotals
    """what was consumed in the run."""
    schedules: list[ScheduleSummary]
    """the schedules."""
    truncated: bool
    """whether there is more than is shown."""


class CancelledRunCancelled(Record):
    """how much the cancel has ended so far."""
    __slots__ = ()
    messages: int
    """how many messages."""
    groups: int
    """how many groups."""
    barriers: int
    """how many barriers."""
    waiters: int
    """how many waiters."""


class CancelledRun(Record):
    """A record of the API: `CancelledRun`."""
    __slots__ = ()
    _records = {
        'cancelled': CancelledRunCancelled,
    }
    scope_id: str
    """the scope's id: a run, or a part of one."""
    state: Literal['CANCELLED']
    """the state it is in now."""
    cancelled: CancelledRunCancelled
    """how much the cancel has ended so far."""
    active_reservations: int
    """how many reservations are still set aside: only a void gives them back."""
    done: bool
    """whether nothing live is left."""


class MailboxCounts(Record):
    """how many messages of it are in which state."""
    __slots__ = ()
    ready: int
    """how many are READY: to be received now."""
    delayed: int
    """how many are DELAYED: to be received later."""
    claimed: int
    """how many are CLAIMED: being worked on."""
    failed: int
    """how many are FAILED: out of attempts."""


class Mailbox(Record):
    """A record of the API: `Mailbox`."""
    __slots__ = ()
    _records = {
        'counts': MailboxCounts,
    }
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    mode: Literal['WORK', 'INBOX']
    """who receives: WORK: any holder; INBOX: its recipient alone."""
    recipient_id: str | None
    """the only holder that may receive; of an INBOX only."""
    backlog_limit: int
    """the most messages it holds that have not ended: READY, DELAYED or CLAIMED."""
    max_attempts: int
    """how often a message is handed out before it is FAILED."""
    retry_delay_seconds: int
    """the pause after the first attempt; it doubles with each further one; 0: none."""
    max_retry_delay_seconds: int
    """the longest pause between two attempts."""
    counts: MailboxCounts
    """how many messages of it are in which state."""
    oldest_ready_at: str | None
    """since when the oldest READY message has been ready; null: there is none."""
    created_at: str
    """when it was made."""


class MailboxList(Record):
    """A record of the API: `MailboxList`."""
    __slots__ = ()
    _records = {
        'mailboxes': Mailbox,
    }
    mailboxes: list[Mailbox]
    """the mailboxes of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Purged(Record):
    """A record of the API: `Purged`."""
    __slots__ = ()
    cancelled: int
    """how many were cancelled."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Requeued(Record):
    """A record of the API: `Requeued`."""
    __slots__ = ()
    requeued: int
    """how many were brought back."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""
    passed_over: dict[str, int]
    """how many may not be requeued and stay as they are, by the code of the error that says why."""


class SentMessage(Record):
    """A record of the API: `SentMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the mailbox's id."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""


class Message(Record):
    """A record of the API: `Message`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    task_id: str | None
    """the task's id; null: it carries no task."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null while it has not, or where the state says it."""
    attempts: int
    """how often it has been handed out."""
    max_attempts: int
    """how often a message is handed out before it is FAILED."""
    last_error: str | None
    """what the last attempt that gave an error said; null: none did."""
    progress: Any
    """what the last renewal that gave it said of the work: kept for the next attempt."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    payload: Any
    """the sender's JSON value, unchanged."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""
    ready_at: str | None
    """when a DELAYED one is to be received; null: it is not delayed."""
    holder: str | None
    """who holds it: a name that the caller chose."""
    holder_session: str | None
    """which session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    result: Any
    """what complete recorded; null: nothing."""
    created_at: str
    """when it was made."""
    finished_at: str | None
    """when it ended; null before."""


class MessageList(Record):
    """A record of the API: `MessageList`."""
    __slots__ = ()
    _records = {
        'messages': Message,
    }
    messages: list[Message]
    """the messages."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Claim(Record):
    """A record of the API: `Claim`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    task_id: str | None
    """the task's id; null: it carries no task."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null while it has not, or where the state says it."""
    attempts: int
    """how often it has been handed out."""
    max_attempts: int
    """how often a message is handed out before it is FAILED."""
    last_error: str | None
    """what the last attempt that gave an error said; null: none did."""
    progress: Any
    """what the last renewal that gave it said of the work: kept for the next attempt."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    payload: Any
    """the sender's JSON value, unchanged."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""
    ready_at: str | None
    """when a DELAYED one is to be received; null: it is not delayed."""
    holder: str | None
    """who holds it: a name that the caller chose."""
    holder_session: str | None
    """which session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    result: Any
    """what complete recorded; null: nothing."""
    created_at: str
    """when it was made."""
    finished_at: str | None
    """when it ended; null before."""
    token: str
    """the claim's secret: renew, complete and nack take it."""
    attempt: int
    """which attempt this is: 1 for the first."""
    lease_seconds: int
    """how long the claim lasts from when it was made or renewed."""


class Claims(Record):
    """A record of the API: `Claims`."""
    __slots__ = ()
    _records = {
        'messages': Claim,
    }
    messages: list[Claim]
    """the messages."""


class RenewedClaim(Record):
    """A record of the API: `RenewedClaim`."""
    __slots__ = ()
    id: str
    """the record's id."""
    state: Literal['CLAIMED']
    """the state it is in now."""
    lease_expires_at: str
    """when the claim ends unless it is renewed."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED'] | None
    """the state of the group it is a member of; null: of none."""


class CompletedMessage(Record):
    """A record of the API: `CompletedMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    state: Literal['ACKED']
    """the state it is in now."""
    task_id: str | None
    """the task's id; null: it carries no task."""
    task_state: Literal['SUCCEEDED'] | None
    """the task's state."""
    result_message_id: str | None
    """the message that the result was published as; null: it was not."""
    group_id: str | None
    """the group's id; null: of no group."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED'] | None
    """the state of the group it is a member of; null: of none."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""


class NackedMessage(Record):
    """A record of the API: `NackedMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    state: Literal['READY', 'DELAYED', 'FAILED', 'REJECTED', 'CANCELLED']
    """the state it is in now."""
    attempts: int
    """how often it has been handed out."""
    ready_at: str | None
    """when a DELAYED one is to be received; null: it is not delayed."""


class CreatedGroup(Record):
    """A record of the API: `CreatedGroup`."""
    __slots__ = ()
    id: str
    """the record's id."""
    group_id: str
    """the group's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    state: Literal['OPEN']
    """the state it is in now."""


class TaskGroupCounts(Record):
    """how many tasks are in which state."""
    __slots__ = ()
    members: int
    """how many tasks the group has."""
    pending: int
    """how many are not worked on yet."""
    running: int
    """how many are worked on."""
    succeeded: int
    """how many were completed."""
    failed: int
    """how many failed or were rejected by their worker."""
    expired: int
    """how many reached their deadline."""
    cancelled: int
    """how many were cancelled."""
    accepted: int
    """how many results were accepted."""
    rejected: int
    """how many results were rejected."""


class Task(Record):
    """A record of the API: `Task`."""
    __slots__ = ()
    task_id: str
    """the task's id."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """the state it is in now."""
    verdict: Literal['ACCEPTED', 'REJECTED'] | None
    """what was said of its result: ACCEPTED or REJECTED; null: nothing yet."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null while it has not, or where the state says it."""
    attempts: int
    """how often it has been handed out."""
    message_id: str
    """the message's id."""
    outcome: Any
    """the payload of the result that its worker completed it with; null: none."""
    last_error: str | None
    """what the last attempt that gave an error said; null: none did."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""


class TaskGroup(Record):
    """A record of the API: `TaskGroup`."""
    __slots__ = ()
    _records = {
        'counts': TaskGroupCounts,
        'members': Task,
    }
    id: str
    """the record's id."""
    group_id: str
    """the group's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    parent_scope_id: str | None
    """the scope that it is below; null: it is a run of its own."""
    mailbox_id: str
    """the mailbox's id."""
    condition: Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL']
    """what decides the group: the first accepted task, `threshold` accepted ones, or the end of all."""
    threshold: int | None
    """how many accepted tasks decide an N_ACCEPTED group."""
    state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the state it is in now."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """how the group was decided; null while it is not."""
    deadline: str | None
    """when it expires unless it has ended before; null: never."""
    counts: TaskGroupCounts
    """how many tasks are in which state."""
    members: list[Task]
    """the tasks of the group."""
    created_at: str
    """when it was made."""
    sealed_at: str | None
    """since when no task can be added; null: it is still open."""
    decided_at: str | None
    """when it was decided; null: it is not."""


class GroupList(Record):
    """A record of the API: `GroupList`."""
    __slots__ = ()
    _records = {
        'groups': TaskGroup,
    }
    groups: list[TaskGroup]
    """the groups."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class SealedGroup(Record):
    """A record of the API: `SealedGroup`."""
    __slots__ = ()
    group_id: str
    """the group's id."""
    state: Literal['SEALED']
    """the state it is in now."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """how the group was decided; null while it is not."""


class SubmittedTask(Record):
    """A record of the API: `SubmittedTask`."""
    __slots__ = ()
    id: str
    """the record's id."""
    task_id: str
    """the task's id."""
    task_key: str
    """the caller's name for the task, unique in its group."""
    group_id: str
    """the group's id."""
    message_id: str
    """the message's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    state: Literal['PENDING']
    """the state it is in now."""


class JudgedTask(Record):
    """A record of the API: `JudgedTask`."""
    __slots__ = ()
    task_id: str
    """the task's id."""
    verdict: Literal['ACCEPTED', 'REJECTED']
    """what was said of its result: ACCEPTED or REJECTED."""
    group_id: str
    """the group's id."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the state of the group it is a member of."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """how the group was decided; null while it is not."""


class JoinedTask(Record):
    """A record of the API: `JoinedTask`."""
    __slots__ = ()
    group_id: str
    """the group's id."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the state of the group it is a member of."""
    task_id: str
    """the task's id."""
    members: int
    """how many tasks the group has."""


class BudgetBalances(Record):
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""
    __slots__ = ()
    limit: str
    """the whole budget, in minor units."""
    reserved: str
    """set aside and not used yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """what can still be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit, in minor units, and in none of the other balances; nothing is reserved
    until a new limit covers it
    """


class Budget(Record):
    """A record of the API: `Budget`."""
    __slots__ = ()
    _records = {
        'balances': BudgetBalances,
    }
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    currency: str
    """the three letters of ISO 4217, or a name of your own for other units."""
    scale: int
    """how many digits of an amount are behind the point: 2 for cents."""
    limit_minor: str
    """the whole budget, in minor units."""
    balances: BudgetBalances
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""
    created_at: str
    """when it was made."""


class BudgetList(Record):
    """A record of the API: `BudgetList`."""
    __slots__ = ()
    _records = {
        'budgets': Budget,
    }
    budgets: list[Budget]
    """the budgets of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class BudgetViewBalances(Record):
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""
    __slots__ = ()
    limit: str
    """the whole budget, in minor units."""
    reserved: str
    """set aside and not used yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """what can still be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit, in minor units, and in none of the other balances; nothing is reserved
    until a new limit covers it
    """


class BudgetView(Record):
    """A record of the API: `BudgetView`."""
    __slots__ = ()
    _records = {
        'balances': BudgetViewBalances,
        'reservations': Reservation,
    }
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    currency: str
    """the three letters of ISO 4217, or a name of your own for other units."""
    scale: int
    """how many digits of an amount are behind the point: 2 for cents."""
    limit_minor: str
    """the whole budget, in minor units."""
    balances: BudgetViewBalances
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""
    created_at: str
    """when it was made."""
    reservations: list[Reservation]
    """the reservations."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Balances(Record):
    """A record of the API: `Balances`."""
    __slots__ = ()
    limit: str
    """the whole budget, in minor units."""
    reserved: str
    """set aside and not used yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """what can still be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit, in minor units, and in none of the other balances; nothing is reserved
    until a new limit covers it
    """


class Reserved(Record):
    """A record of the API: `Reserved`."""
    __slots__ = ()
    _records = {
        'balances': Balances,
    }
    id: str
    """the record's id."""
    budget_id: str
    """the budget's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    settled_minor: str
    """how much was spent of it, and beyond it by an overrun, in minor units."""
    voided_minor: str
    """how much of it was given back, in minor units."""
    remaining_minor: str
    """how much of it is still set aside, in minor units."""
    state: Literal['ACTIVE', 'SETTLED', 'VOIDED']
    """the state it is in now."""
    settle_by: str | None
    """when it should be settled; later it is marked overdue; null: whenever."""
    overdue: bool
    """whether settleBy has passed while something is still set aside."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    created_at: str
    """when it was made."""
    closed_at: str | None
    """when nothing of it was left; null before."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""
    balances: Balances
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""


class Entry(Record):
    """A record of the API: `Entry`."""
    __slots__ = ()
    id: str
    """the record's id."""
    budget_id: str
    """the budget's id."""
    reservation_id: str
    """the reservation's id."""
    kind: Literal['SETTLE', 'VOID']
    """what was done: SETTLE: the amount was spent; VOID: it was given back."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    overdrawn_minor: str
    """how much of the amount the budget was overdrawn by, in minor units."""
    work_key: str
    """the caller's name for the entry, unique among the budget's settlements and among its voids: a
    repetition answers the first one
    """
    created_at: str
    """when it was made."""


class BudgetSettle(Record):
    """A record of the API: `BudgetSettle`."""
    __slots__ = ()
    _records = {
        'entry': Entry,
        'reservation': Reservation,
        'balances': Balances,
    }
    entry: Entry
    """the ledger entry that was made."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""
    reservation: Reservation
    """the reservation as it now stands."""
    balances: Balances
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""


class BudgetVoid(Record):
    """A record of the API: `BudgetVoid`."""
    __slots__ = ()
    _records = {
        'entry': Entry,
        'reservation': Reservation,
        'balances': Balances,
    }
    entry: Entry
    """the ledger entry that was made."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""
    reservation: Reservation
    """the reservation as it now stands."""
    balances: Balances
    """what is reserved, spent and left: limit = reserved + settled + available, at every moment."""


class BarrierList(Record):
    """A record of the API: `BarrierList`."""
    __slots__ = ()
    _records = {
        'barriers': Barrier,
    }
    barriers: list[Barrier]
    """the barriers."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Allowance(Record):
    """A record of the API: `Allowance`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    units_limit: int
    """how many units a window has."""
    window_seconds: int
    """how long a window is; windows begin at multiples of it since 1970."""
    window_started_at: str
    """when the present window began."""
    window_ends_at: str
    """when the window ends."""
    used_units: int
    """how many units of the present window are used."""
    available_units: int
    """how many units of the present window are left."""
    cooldown_until: str | None
    """nothing is given out before this moment; null: no cooldown."""
    cooldown_reason: str | None
    """why it cools down."""
    waiting: int
    """how many wait for units."""
    created_at: str
    """when it was made."""


class AllowanceList(Record):
    """A record of the API: `AllowanceList`."""
    __slots__ = ()
    _records = {
        'allowances': Allowance,
    }
    allowances: list[Allowance]
    """the allowances of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Consumption(Record):
    """A record of the API: `Consumption`."""
    __slots__ = ()
    id: str
    """the record's id."""
    allowance_id: str
    """the allowance's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    holder: str
    """who holds it: a name that the caller chose."""
    units: int
    """how many units."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    replay: bool
    """whether an earlier request did it already, so that this one changed nothing."""
    window_ends_at: str
    """when the window ends."""
    available_units: int
    """how many units of the present window are left."""
    created_at: str
    """when it was made."""


class Cooldown(Record):
    """A record of the API: `Cooldown`."""
    __slots__ = ()
    allowance_id: str
    """the allowance's id."""
    cooldown_until: str
    """nothing is given out before this moment."""
    reason: str | None
    """why it cools down."""


class Schedule(Record):
    """A record of the API: `Schedule`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the mailbox's id."""
    scope_id: str
    """the scope's id: a run, or a part of one."""
    payload: Any
    """what each message carries."""
    cron: str | None
    """when it sends, as a cron expression; null: it goes by everySeconds."""
    every_seconds: int | None
    """the seconds between two messages, counted from creation; null: it goes by cron."""
    timezone: str
    """the IANA time zone of cron."""
    max_attempts: int | None
    """how often a message is handed out before it is FAILED."""
    state: Literal['ACTIVE', 'PAUSED', 'ENDED']
    """the state it is in now."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the last moment that it sent a message for; null: none yet."""
    last_message_id: str | None
    """the message that it sent last; null: none yet."""
    missed: int
    """how many moments passed while nothing ran; of those only the last was sent."""
    created_at: str
    """when it was made."""


class ScheduleList(Record):
    """A record of the API: `ScheduleList`."""
    __slots__ = ()
    _records = {
        'schedules': Schedule,
    }
    schedules: list[Schedule]
    """the schedules."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class NewDestination(Record):
    """A record of the API: `NewDestination`."""
    __slots__ = ()
    id: str
    """the record's id."""
    url: str
    """where the events are posted to."""
    event_types: list[str]
    """the types that it hears of, `message.*` for all of a kind; empty: all."""
    state: Literal['ACTIVE', 'DISABLED']
    """the state it is in now."""
    disabled_reason: Literal['REQUESTED', 'GONE', 'FAILING'] | None
    """why it is DISABLED; null: it is not."""
    consecutive_failures: int
    """how many attempts have failed since the last success."""
    last_success_at: str | None
    """when an attempt last succeeded; null: never."""
    created_at: str
    """when it was made."""
    signing_secret: str
    """what deliveries are signed with; shown here only."""


class Destination(Record):
    """A record of the API: `Destination`."""
    __slots__ = ()
    id: str
    """the record's id."""
    url: str
    """where the events are posted to."""
    event_types: list[str]
    """the types that it hears of, `message.*` for all of a kind; empty: all."""
    state: Literal['ACTIVE', 'DISABLED']
    """the state it is in now."""
    disabled_reason: Literal['REQUESTED', 'GONE', 'FAILING'] | None
    """why it is DISABLED; null: it is not."""
    consecutive_failures: int
    """how many attempts have failed since the last success."""
    last_success_at: str | None
    """when an attempt last succeeded; null: never."""
    created_at: str
    """when it was made."""


class DestinationList(Record):
    """A record of the API: `DestinationList`."""
    __slots__ = ()
    _records = {
        'destinations': Destination,
    }
    destinations: list[Destination]
    """the destinations of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Delivery(Record):
    """A record of the API: `Delivery`."""
    __slots__ = ()
    id: str
    """the record's id."""
    destination_id: str
    """the destination's id."""
    event_id: str
    """the event's id, unique for ever: whoever has seen it may drop a repetition."""
    event_type: str
    """the event's type."""
    attempt: int
    """which attempt this is: 1 for the first."""
    trigger: Literal['SCHEDULED', 'MANUAL', 'TEST']
    """why it was attempted: as planned, asked for by redeliver, or a test."""
    state: Literal['SUCCEEDED', 'FAILED']
    """the state it is in now."""
    response_status: int | None
    """the receiver's HTTP status; null: there was no answer."""
    error_code: Literal['STATUS', 'REDIRECTED', 'TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_FAILED', 'NAME_NOT_RESOLVED', 'TLS_FAILED', 'TARGET_FORBIDDEN', 'INTERRUPTED'] | None
    """why the attempt failed; null: it did not."""
    duration_ms: int
    """how long the attempt took."""
    attempted_at: str
    """when the attempt began."""
    next_attempt_at: str | None
    """when the next attempt is due; null: there is none."""


class DeliveryList(Record):
    """A record of the API: `DeliveryList`."""
    __slots__ = ()
    _records = {
        'deliveries': Delivery,
    }
    deliveries: list[Delivery]
    """the deliveries of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Event(Record):
    """An event of the journal; `payload` is as the reference describes it."""
    __slots__ = ()
    event_id: str
    """the event's id, unique for ever: whoever has seen it may drop a repetition."""
    type: Literal['limits.updated', 'scope.created', 'scope.cancelled', 'mailbox.created', 'mailbox.updated', 'mailbox.deleted', 'message.sent', 'message.claimed', 'message.acked', 'message.retried', 'message.rejected', 'message.failed', 'message.lease_expired', 'message.expired', 'message.cancelled', 'message.requeued', 'group.created', 'group.sealed', 'group.task_joined', 'group.decided', 'task.submitted', 'task.started', 'task.succeeded', 'task.failed', 'task.expired', 'task.cancelled', 'task.requeued', 'task.accepted', 'task.rejected', 'budget.created', 'budget.limit_changed', 'budget.reserved', 'budget.settled', 'budget.voided', 'budget.overdrawn', 'budget.reservation_overdue', 'barrier.created', 'barrier.arrived', 'barrier.released', 'barrier.cancelled', 'barrier.epoch_advanced', 'allowance.created', 'allowance.limit_changed', 'allowance.consumed', 'allowance.cooldown_started', 'waiter.queued', 'waiter.granted', 'waiter.cancelled', 'waiter.expired', 'schedule.created', 'schedule.updated', 'schedule.deleted', 'schedule.fired', 'schedule.refused', 'destination.created', 'destination.disabled', 'delivery.exhausted']
    aggregate: Literal['limits', 'scope', 'mailbox', 'message', 'group', 'task', 'budget', 'barrier', 'allowance', 'waiter', 'schedule', 'destination', 'delivery']
    aggregate_id: str
    """the id of the object that it happened to."""
    scope_id: str | None
    occurred_at: str
    """when it happened, by the clock of the store."""
    request_id: str | None
    """the request that did it; null: the passing of time did."""
    payload: dict[str, Any]


class EventList(Record):
    """A record of the API: `EventList`."""
    __slots__ = ()
    _records = {
        'events': Event,
    }
    events: list[Event]
    """the events, oldest first."""
    next_cursor: str
    """the cursor of what comes after; never null."""


class EventWatch(Record):
    """A record of the API: `EventWatch`."""
    __slots__ = ()
    _records = {
        'events': Event,
    }
    events: list[Event]
    """the events, oldest first."""
    next_cursor: str
    """the cursor of what comes after; never null."""


class VisibleSpace(Record):
    """A record of the API: `VisibleSpace`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str | None
    """for people, and to find it by."""
    created_at: str
    """when it was made."""


class SpaceList(Record):
    """A record of the API: `SpaceList`."""
    __slots__ = ()
    _records = {
        'spaces': VisibleSpace,
    }
    spaces: list[VisibleSpace]
    """the spaces of this page."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class MessageCompleteResult(TypedDict):
    """An argument, with the API's names: `MessageCompleteResult`."""

    payload: Any
    mailboxId: NotRequired[Id | None]
    scopeId: NotRequired[Id | None]
    workKey: NotRequired[str | None]
