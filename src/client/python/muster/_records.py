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
    """the most READY, DELAYED and CLAIMED messages in the space."""
    max_payload_bytes: int
    """the most bytes of a payload, input or result, as compact JSON."""
    max_lease_seconds: int
    """the longest lease of a claim."""
    max_pending_waiters: int
    """the most WAITING waiters in the space."""
    max_armed_timers: int
    """the most deadlines, delays and other moments ahead."""


class Census(Record):
    """A record of the API: `Census`."""
    __slots__ = ()
    as_of: str
    """when these figures were taken."""
    scopes: dict[str, int]
    """the number of scopes by state."""
    claims: dict[str, int]
    """the number of claims by state."""
    messages: dict[str, int]
    """the number of messages by state."""
    tasks: dict[str, int]
    """the number of tasks by state."""
    groups: dict[str, int]
    """the number of groups by state."""
    reservations: dict[str, int]
    """the number of reservations by state."""
    barriers: dict[str, int]
    """the number of barriers by state."""
    waiters: dict[str, int]
    """the number of waiters by state."""
    schedules: dict[str, int]
    """the number of schedules by state."""
    timers: dict[str, int]
    """deadlines, delays and other moments ahead."""
    events: dict[str, int]
    """the number of events of these types."""


class Backlog(Record):
    """A record of the API: `Backlog`."""
    __slots__ = ()
    as_of: str
    """when these figures were taken."""
    ready_messages: int
    """READY messages."""
    delayed_messages: int
    """DELAYED messages."""
    claimed_messages: int
    """CLAIMED messages."""
    oldest_ready_age_seconds: int | None
    """the seconds since the oldest READY message became ready; null: there is none."""
    waiting_waiters: int
    """the waiters in all queues."""
    oldest_waiter_age_seconds: int | None
    """the seconds that the first of them has waited; null: nobody waits."""
    armed_timers: int
    """deadlines, delays and other moments ahead."""
    outbox: dict[str, int]
    """events on their way to destinations, by state."""


class HeldClaim(Record):
    """A record of the API: `HeldClaim`."""
    __slots__ = ()
    message_id: str
    """the id of the message."""
    mailbox_id: str
    """the id of the mailbox."""
    task_id: str | None
    """the id of the message's task; null: it carries none."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    holder_session: str
    """the session of its holder."""
    attempt: int
    """the number of this attempt, from 1."""
    claimed_at: str
    """when the present or last claim began."""
    lease_expires_at: str
    """when the claim ends unless it is renewed."""


class WaitingTask(Record):
    """A record of the API: `WaitingTask`."""
    __slots__ = ()
    task_id: str
    """the id of the message's task."""
    group_id: str | None
    """the group's id; null: of no group."""
    mailbox_id: str
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    waiting_since: str
    """when it began to wait."""
    ready_at: str | None
    """when a DELAYED message becomes ready; null: it is not delayed."""
    position: int | None
    """its place among the READY ones of its run in the mailbox; null: not READY."""
    blocked_by: Literal['HEAD_OF_LINE', 'DELAY', 'RETRY', 'RECEIVER']
    """the reason for its wait."""


class WaitingWaiter(Record):
    """A record of the API: `WaitingWaiter`."""
    __slots__ = ()
    waiter_id: str
    """the id of the waiter."""
    allowance_id: str
    """the id of the allowance."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    units: int
    """the number of units."""
    position: int
    """its place in the queue, from 1."""
    waiting_since: str
    """when it began to wait."""
    expires_at: str
    """when its wait ends."""
    blocked_by: Literal['HEAD_OF_LINE', 'WINDOW', 'COOLDOWN']
    """the reason for its wait."""
    blocked_until: str | None
    """when it is granted at the earliest, if it is the first in line; null: not known."""


class HeldGrant(Record):
    """A record of the API: `HeldGrant`."""
    __slots__ = ()
    waiter_id: str
    """the id of the waiter."""
    allowance_id: str
    """the id of the allowance."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    units: int
    """the number of units."""
    window_ends_at: str
    """when the window ends."""


class WaitingSchedule(Record):
    """A record of the API: `WaitingSchedule`."""
    __slots__ = ()
    schedule_id: str
    """the id of the schedule."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the moment of its last message; null: none yet."""
    missed: int
    """the moments that passed while nothing ran; of several only the last is sent."""


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
    """when these figures were taken."""
    held_claims: list[HeldClaim]
    """the live claims."""
    waiting_tasks: list[WaitingTask]
    """tasks that wait to be received, and why."""
    waiters: list[WaitingWaiter]
    """the waiters."""
    held_grants: list[HeldGrant]
    """the grants of windows that have not ended."""
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
    """the payloads and the journal kept at the end of the day."""


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
    """an entry for each UTC day."""


class ScopeLive(Record):
    """what has not ended in the scope and those below it."""
    __slots__ = ()
    messages: int
    """READY, DELAYED and CLAIMED messages."""
    waiters: int
    """WAITING waiters."""


class Scope(Record):
    """A record of the API: `Scope`."""
    __slots__ = ()
    _records = {
        'live': ScopeLive,
    }
    id: str
    """the record's id."""
    parent_scope_id: str | None
    """the scope above it; null: it is a run of its own."""
    name: str | None
    """for people, and to find it by."""
    state: Literal['ACTIVE', 'IDLE', 'CANCELLED']
    """its present state."""
    live: ScopeLive
    """what has not ended in the scope and those below it."""
    created_at: str
    """when it was created."""


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
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    task_id: str | None
    """the id of the message's task; null: it carries none."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null: it has not, or its state says it."""
    attempts: int
    """the number of attempts so far."""
    max_attempts: int
    """the most attempts before a message is FAILED."""
    last_error: str | None
    """the error of the last attempt that gave one; null: none did."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""
    ready_at: str | None
    """when a DELAYED message becomes ready; null: it is not delayed."""
    holder: str | None
    """its holder: a name that the caller chose."""
    holder_session: str | None
    """the session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    created_at: str
    """when it was created."""
    finished_at: str | None
    """when it ended; null: not yet."""


class TaskGroupSummaryCounts(Record):
    """its members by state and verdict."""
    __slots__ = ()
    members: int
    """its members."""
    pending: int
    """members that nobody has begun."""
    running: int
    """members being worked on."""
    succeeded: int
    """members that were completed."""
    failed: int
    """members that failed or were rejected by their worker."""
    expired: int
    """members that reached their deadline."""
    cancelled: int
    """members that were cancelled."""
    accepted: int
    """results that were accepted."""
    rejected: int
    """results that were rejected."""


class TaskSummary(Record):
    """A record of the API: `TaskSummary`."""
    __slots__ = ()
    task_id: str
    """the id of the message's task."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    verdict: Literal['ACCEPTED', 'REJECTED'] | None
    """the judgement of its result; null: none yet."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null: it has not, or its state says it."""
    attempts: int
    """the number of attempts so far."""
    message_id: str
    """the id of the message."""
    last_error: str | None
    """the error of the last attempt that gave one; null: none did."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""


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
    """the scope: a run, or a part of one."""
    parent_scope_id: str | None
    """the scope above it; null: it is a run of its own."""
    mailbox_id: str
    """the id of the mailbox."""
    condition: Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL']
    """what decides it: the first accepted result, `threshold` of them, or the end of all members."""
    threshold: int | None
    """the accepted results that an N_ACCEPTED group needs; null: another condition."""
    state: Literal['OPEN', 'SEALED', 'DECIDED']
    """its present state."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """its decision; null: not decided yet."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""
    counts: TaskGroupSummaryCounts
    """its members by state and verdict."""
    members: list[TaskSummary]
    """the members."""
    created_at: str
    """when it was created."""
    sealed_at: str | None
    """when its membership was closed; null: it is open."""
    decided_at: str | None
    """when it was decided; null: not yet."""


class Reservation(Record):
    """A record of the API: `Reservation`."""
    __slots__ = ()
    id: str
    """the record's id."""
    budget_id: str
    """the id of the budget."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    settled_minor: str
    """spent of it, and beyond it by an overrun, in minor units."""
    voided_minor: str
    """given back of it, in minor units."""
    remaining_minor: str
    """still set aside, in minor units."""
    state: Literal['ACTIVE', 'SETTLED', 'VOIDED']
    """its present state."""
    settle_by: str | None
    """when it becomes overdue unless it is settled; null: never."""
    overdue: bool
    """whether settleBy has passed while something is still set aside."""
    work_key: str | None
    """the caller's name for what it pays; null: none."""
    created_at: str
    """when it was created."""
    closed_at: str | None
    """when nothing of it was left; null: not yet."""


class Barrier(Record):
    """A record of the API: `Barrier`."""
    __slots__ = ()
    id: str
    """the record's id."""
    scope_id: str
    """the scope: a run, or a part of one."""
    state: Literal['OPEN', 'RELEASED', 'CANCELLED']
    """its present state."""
    epoch: int
    """the present round, from 1; nextEpoch begins another."""
    arrivals: int
    """the arrivals in this epoch."""
    target: int
    """the arrivals that release it."""
    created_at: str
    """when it was created."""
    released_at: str | None
    """when it was released; null: it is not."""


class Waiter(Record):
    """A record of the API: `Waiter`."""
    __slots__ = ()
    id: str
    """the record's id."""
    waiter_id: str
    """the id of the waiter."""
    allowance_id: str
    """the id of the allowance."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    units: int
    """the number of units."""
    state: Literal['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED']
    """its present state."""
    position: int | None
    """its place in the queue, from 1; null: it is in none."""
    expires_at: str
    """when its wait ends."""
    granted_at: str | None
    """when its units were granted; null: they are not."""
    created_at: str
    """when it was created."""


class ConsumptionTotals(Record):
    """A record of the API: `ConsumptionTotals`."""
    __slots__ = ()
    count: int
    """the consumptions."""
    units: int
    """their units in all."""


class ScheduleSummary(Record):
    """A record of the API: `ScheduleSummary`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    cron: str | None
    """the cron expression of its moments; null: it goes by everySeconds."""
    every_seconds: int | None
    """the seconds between messages, from its creation; null: it goes by cron."""
    timezone: str
    """the IANA time zone of cron."""
    max_attempts: int | None
    """the most attempts of each message; null: the mailbox's."""
    state: Literal['ACTIVE', 'PAUSED', 'ENDED']
    """its present state."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the moment of its last message; null: none yet."""
    last_message_id: str | None
    """the last message that it sent; null: none yet."""
    missed: int
    """the moments that passed while nothing ran; of several only the last is sent."""
    created_at: str
    """when it was created."""


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
    """the sum of its consumptions."""
    schedules: list[ScheduleSummary]
    """the schedules."""
    truncated: bool
    """whether there is more than is shown."""


class CancelledRunCancelled(Record):
    """what the cancel has ended so far."""
    __slots__ = ()
    messages: int
    """the number of messages."""
    groups: int
    """the number of groups."""
    barriers: int
    """the number of barriers."""
    waiters: int
    """the number of waiters."""


class CancelledRun(Record):
    """A record of the API: `CancelledRun`."""
    __slots__ = ()
    _records = {
        'cancelled': CancelledRunCancelled,
    }
    scope_id: str
    """the scope: a run, or a part of one."""
    state: Literal['CANCELLED']
    """its present state."""
    cancelled: CancelledRunCancelled
    """what the cancel has ended so far."""
    active_reservations: int
    """reservations still set aside: only a void gives them back."""
    done: bool
    """whether nothing live is left."""


class MailboxCounts(Record):
    """its messages by state."""
    __slots__ = ()
    ready: int
    """messages ready to be received."""
    delayed: int
    """messages to be received later."""
    claimed: int
    """messages being worked on."""
    failed: int
    """messages out of attempts."""


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
    """the only holder that may receive; null: a WORK mailbox."""
    backlog_limit: int
    """the most messages it holds that are READY, DELAYED or CLAIMED."""
    max_attempts: int
    """the most attempts before a message is FAILED."""
    retry_delay_seconds: int
    """the pause after the first attempt; it doubles with each further one; 0: none."""
    max_retry_delay_seconds: int
    """the longest pause between two attempts."""
    counts: MailboxCounts
    """its messages by state."""
    oldest_ready_at: str | None
    """when its oldest READY message became ready; null: none is."""
    created_at: str
    """when it was created."""


class MailboxList(Record):
    """A record of the API: `MailboxList`."""
    __slots__ = ()
    _records = {
        'mailboxes': Mailbox,
    }
    mailboxes: list[Mailbox]
    """the mailboxes."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Purged(Record):
    """A record of the API: `Purged`."""
    __slots__ = ()
    cancelled: int
    """the messages that were cancelled."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Requeued(Record):
    """A record of the API: `Requeued`."""
    __slots__ = ()
    requeued: int
    """the messages that were brought back."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""
    passed_over: dict[str, int]
    """the messages that stay as they are, by the code of the error that says why."""


class SentMessage(Record):
    """A record of the API: `SentMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the id of the mailbox."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    replay: bool
    """whether an earlier request did it, and this one changed nothing."""


class Message(Record):
    """A record of the API: `Message`."""
    __slots__ = ()
    id: str
    """the record's id."""
    mailbox_id: str
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    task_id: str | None
    """the id of the message's task; null: it carries none."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null: it has not, or its state says it."""
    attempts: int
    """the number of attempts so far."""
    max_attempts: int
    """the most attempts before a message is FAILED."""
    last_error: str | None
    """the error of the last attempt that gave one; null: none did."""
    progress: Any
    """the last progress that a renewal reported, for the next attempt."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    payload: Any
    """the sender's value, unchanged."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""
    ready_at: str | None
    """when a DELAYED message becomes ready; null: it is not delayed."""
    holder: str | None
    """its holder: a name that the caller chose."""
    holder_session: str | None
    """the session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    result: Any
    """the result that complete recorded; null: none."""
    created_at: str
    """when it was created."""
    finished_at: str | None
    """when it ended; null: not yet."""


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
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    task_id: str | None
    """the id of the message's task; null: it carries none."""
    group_id: str | None
    """the group's id; null: of no group."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['READY', 'DELAYED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null: it has not, or its state says it."""
    attempts: int
    """the number of attempts so far."""
    max_attempts: int
    """the most attempts before a message is FAILED."""
    last_error: str | None
    """the error of the last attempt that gave one; null: none did."""
    progress: Any
    """the last progress that a renewal reported, for the next attempt."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    payload: Any
    """the sender's value, unchanged."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""
    ready_at: str | None
    """when a DELAYED message becomes ready; null: it is not delayed."""
    holder: str | None
    """its holder: a name that the caller chose."""
    holder_session: str | None
    """the session of its holder."""
    claimed_at: str | None
    """when the present or last claim began."""
    lease_expires_at: str | None
    """when the claim ends unless it is renewed."""
    result: Any
    """the result that complete recorded; null: none."""
    created_at: str
    """when it was created."""
    finished_at: str | None
    """when it ended; null: not yet."""
    token: str
    """the claim's secret, for renew, complete and nack."""
    attempt: int
    """the number of this attempt, from 1."""
    lease_seconds: int
    """the lease, from when it was made or renewed."""


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
    """its present state."""
    lease_expires_at: str
    """when the claim ends unless it is renewed."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED'] | None
    """the state of its group; null: of no group."""


class CompletedMessage(Record):
    """A record of the API: `CompletedMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    state: Literal['ACKED']
    """its present state."""
    task_id: str | None
    """the id of the message's task; null: it carries none."""
    task_state: Literal['SUCCEEDED'] | None
    """the task's state; null: it carries no task."""
    result_message_id: str | None
    """the message that the result was sent as; null: it was not."""
    group_id: str | None
    """the group's id; null: of no group."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED'] | None
    """the state of its group; null: of no group."""
    replay: bool
    """whether an earlier request did it, and this one changed nothing."""


class NackedMessage(Record):
    """A record of the API: `NackedMessage`."""
    __slots__ = ()
    id: str
    """the record's id."""
    state: Literal['READY', 'DELAYED', 'FAILED', 'REJECTED', 'CANCELLED']
    """its present state."""
    attempts: int
    """the number of attempts so far."""
    ready_at: str | None
    """when a DELAYED message becomes ready; null: it is not delayed."""


class CreatedGroup(Record):
    """A record of the API: `CreatedGroup`."""
    __slots__ = ()
    id: str
    """the record's id."""
    group_id: str
    """the group's id."""
    scope_id: str
    """the scope: a run, or a part of one."""
    state: Literal['OPEN']
    """its present state."""


class TaskGroupCounts(Record):
    """its members by state and verdict."""
    __slots__ = ()
    members: int
    """its members."""
    pending: int
    """members that nobody has begun."""
    running: int
    """members being worked on."""
    succeeded: int
    """members that were completed."""
    failed: int
    """members that failed or were rejected by their worker."""
    expired: int
    """members that reached their deadline."""
    cancelled: int
    """members that were cancelled."""
    accepted: int
    """results that were accepted."""
    rejected: int
    """results that were rejected."""


class Task(Record):
    """A record of the API: `Task`."""
    __slots__ = ()
    task_id: str
    """the id of the message's task."""
    task_key: str | None
    """the caller's name for the task, unique in its group."""
    state: Literal['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED']
    """its present state."""
    verdict: Literal['ACCEPTED', 'REJECTED'] | None
    """the judgement of its result; null: none yet."""
    reason: Literal['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED', 'CANCELLED_BY_CALLER', 'RUN_CANCELLED'] | None
    """why it ended so; null: it has not, or its state says it."""
    attempts: int
    """the number of attempts so far."""
    message_id: str
    """the id of the message."""
    outcome: Any
    """the payload of the result that its worker gave; null: none."""
    last_error: str | None
    """the error of the last attempt that gave one; null: none did."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""


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
    """the scope: a run, or a part of one."""
    parent_scope_id: str | None
    """the scope above it; null: it is a run of its own."""
    mailbox_id: str
    """the id of the mailbox."""
    condition: Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL']
    """what decides it: the first accepted result, `threshold` of them, or the end of all members."""
    threshold: int | None
    """the accepted results that an N_ACCEPTED group needs; null: another condition."""
    state: Literal['OPEN', 'SEALED', 'DECIDED']
    """its present state."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """its decision; null: not decided yet."""
    deadline: str | None
    """when it expires unless it has ended by then; null: never."""
    counts: TaskGroupCounts
    """its members by state and verdict."""
    members: list[Task]
    """the members."""
    created_at: str
    """when it was created."""
    sealed_at: str | None
    """when its membership was closed; null: it is open."""
    decided_at: str | None
    """when it was decided; null: not yet."""


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
    """its present state."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """its decision; null: not decided yet."""


class SubmittedTask(Record):
    """A record of the API: `SubmittedTask`."""
    __slots__ = ()
    id: str
    """the record's id."""
    task_id: str
    """the id of the message's task."""
    task_key: str
    """the caller's name for the task, unique in its group."""
    group_id: str
    """the group's id."""
    message_id: str
    """the id of the message."""
    scope_id: str
    """the scope: a run, or a part of one."""
    state: Literal['PENDING']
    """its present state."""


class JudgedTask(Record):
    """A record of the API: `JudgedTask`."""
    __slots__ = ()
    task_id: str
    """the id of the message's task."""
    verdict: Literal['ACCEPTED', 'REJECTED']
    """the judgement of its result."""
    group_id: str
    """the group's id."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the group's state."""
    outcome: Literal['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] | None
    """its decision; null: not decided yet."""


class JoinedTask(Record):
    """A record of the API: `JoinedTask`."""
    __slots__ = ()
    group_id: str
    """the group's id."""
    group_state: Literal['OPEN', 'SEALED', 'DECIDED']
    """the group's state."""
    task_id: str
    """the id of the message's task."""
    members: int
    """the members of the group."""


class BudgetBalances(Record):
    """its balances: limit = reserved + settled + available, at every moment."""
    __slots__ = ()
    limit: str
    """the whole budget, in minor units."""
    reserved: str
    """set aside and not spent yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """left to be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit and in no other balance, in minor units; nothing is reserved until a
    new limit covers it
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
    """the digits of an amount behind the point: 2 for cents."""
    limit_minor: str
    """the whole budget, in minor units."""
    balances: BudgetBalances
    """its balances: limit = reserved + settled + available, at every moment."""
    created_at: str
    """when it was created."""


class BudgetList(Record):
    """A record of the API: `BudgetList`."""
    __slots__ = ()
    _records = {
        'budgets': Budget,
    }
    budgets: list[Budget]
    """the budgets."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class BudgetViewBalances(Record):
    """its balances: limit = reserved + settled + available, at every moment."""
    __slots__ = ()
    limit: str
    """the whole budget, in minor units."""
    reserved: str
    """set aside and not spent yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """left to be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit and in no other balance, in minor units; nothing is reserved until a
    new limit covers it
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
    """the digits of an amount behind the point: 2 for cents."""
    limit_minor: str
    """the whole budget, in minor units."""
    balances: BudgetViewBalances
    """its balances: limit = reserved + settled + available, at every moment."""
    created_at: str
    """when it was created."""
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
    """set aside and not spent yet, in minor units."""
    settled: str
    """spent, in minor units."""
    available: str
    """left to be reserved, in minor units."""
    overdrawn: str
    """spent beyond the limit and in no other balance, in minor units; nothing is reserved until a
    new limit covers it
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
    """the id of the budget."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    settled_minor: str
    """spent of it, and beyond it by an overrun, in minor units."""
    voided_minor: str
    """given back of it, in minor units."""
    remaining_minor: str
    """still set aside, in minor units."""
    state: Literal['ACTIVE', 'SETTLED', 'VOIDED']
    """its present state."""
    settle_by: str | None
    """when it becomes overdue unless it is settled; null: never."""
    overdue: bool
    """whether settleBy has passed while something is still set aside."""
    work_key: str | None
    """the caller's name for what it pays; null: none."""
    created_at: str
    """when it was created."""
    closed_at: str | None
    """when nothing of it was left; null: not yet."""
    replay: bool
    """whether an earlier request did it, and this one changed nothing."""
    balances: Balances
    """its balances: limit = reserved + settled + available, at every moment."""


class Entry(Record):
    """A record of the API: `Entry`."""
    __slots__ = ()
    id: str
    """the record's id."""
    budget_id: str
    """the id of the budget."""
    reservation_id: str
    """the id of the reservation."""
    kind: Literal['SETTLE', 'VOID']
    """SETTLE: the amount was spent; VOID: it was given back."""
    amount_minor: str
    """the amount, in minor units, as digits."""
    overdrawn_minor: str
    """the part of the amount that overdrew the budget, in minor units."""
    work_key: str
    """the caller's name for the entry, unique among the budget's settlements, or its voids."""
    created_at: str
    """when it was created."""


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
    """whether an earlier request did it, and this one changed nothing."""
    reservation: Reservation
    """the reservation as it now stands."""
    balances: Balances
    """the balances of the budget."""


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
    """whether an earlier request did it, and this one changed nothing."""
    reservation: Reservation
    """the reservation as it now stands."""
    balances: Balances
    """the balances of the budget."""


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
    """the units of each window."""
    window_seconds: int
    """the length of a window; windows begin at multiples of it since 1970."""
    window_started_at: str
    """when the present window began."""
    window_ends_at: str
    """when the window ends."""
    used_units: int
    """the units used in the present window."""
    available_units: int
    """the units left in the present window."""
    cooldown_until: str | None
    """when its cooldown ends, and units are given out again; null: no cooldown."""
    cooldown_reason: str | None
    """the reason for the cooldown; null: none was given."""
    waiting: int
    """the waiters in its queue."""
    created_at: str
    """when it was created."""


class AllowanceList(Record):
    """A record of the API: `AllowanceList`."""
    __slots__ = ()
    _records = {
        'allowances': Allowance,
    }
    allowances: list[Allowance]
    """the allowances."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Consumption(Record):
    """A record of the API: `Consumption`."""
    __slots__ = ()
    id: str
    """the record's id."""
    allowance_id: str
    """the id of the allowance."""
    scope_id: str
    """the scope: a run, or a part of one."""
    holder: str
    """its holder: a name that the caller chose."""
    units: int
    """the number of units."""
    work_key: str | None
    """the caller's name for this work, unique where it is used: a repetition is recognized by it."""
    replay: bool
    """whether an earlier request did it, and this one changed nothing."""
    window_ends_at: str
    """when the window ends."""
    available_units: int
    """the units left in the present window."""
    created_at: str
    """when it was created."""


class Cooldown(Record):
    """A record of the API: `Cooldown`."""
    __slots__ = ()
    allowance_id: str
    """the id of the allowance."""
    cooldown_until: str
    """when its cooldown ends, and units are given out again."""
    reason: str | None
    """the reason for the cooldown; null: none was given."""


class Schedule(Record):
    """A record of the API: `Schedule`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str
    """for people, and to find it by."""
    mailbox_id: str
    """the id of the mailbox."""
    scope_id: str
    """the scope: a run, or a part of one."""
    payload: Any
    """the payload of each message."""
    cron: str | None
    """the cron expression of its moments; null: it goes by everySeconds."""
    every_seconds: int | None
    """the seconds between messages, from its creation; null: it goes by cron."""
    timezone: str
    """the IANA time zone of cron."""
    max_attempts: int | None
    """the most attempts of each message; null: the mailbox's."""
    state: Literal['ACTIVE', 'PAUSED', 'ENDED']
    """its present state."""
    next_at: str | None
    """when it sends next; null: it is paused or has ended."""
    last_at: str | None
    """the moment of its last message; null: none yet."""
    last_message_id: str | None
    """the last message that it sent; null: none yet."""
    missed: int
    """the moments that passed while nothing ran; of several only the last is sent."""
    created_at: str
    """when it was created."""


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
    """the address that events are posted to."""
    event_types: list[str]
    """the event types that it gets, `message.*` for all of a kind; empty: all."""
    state: Literal['ACTIVE', 'DISABLED']
    """its present state."""
    disabled_reason: Literal['REQUESTED', 'GONE', 'FAILING'] | None
    """why it is DISABLED; null: it is not."""
    consecutive_failures: int
    """the failed attempts since the last success."""
    last_success_at: str | None
    """when an attempt last succeeded; null: never."""
    created_at: str
    """when it was created."""
    signing_secret: str
    """the secret that deliveries are signed with; shown here only."""


class Destination(Record):
    """A record of the API: `Destination`."""
    __slots__ = ()
    id: str
    """the record's id."""
    url: str
    """the address that events are posted to."""
    event_types: list[str]
    """the event types that it gets, `message.*` for all of a kind; empty: all."""
    state: Literal['ACTIVE', 'DISABLED']
    """its present state."""
    disabled_reason: Literal['REQUESTED', 'GONE', 'FAILING'] | None
    """why it is DISABLED; null: it is not."""
    consecutive_failures: int
    """the failed attempts since the last success."""
    last_success_at: str | None
    """when an attempt last succeeded; null: never."""
    created_at: str
    """when it was created."""


class DestinationList(Record):
    """A record of the API: `DestinationList`."""
    __slots__ = ()
    _records = {
        'destinations': Destination,
    }
    destinations: list[Destination]
    """the destinations."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Delivery(Record):
    """A record of the API: `Delivery`."""
    __slots__ = ()
    id: str
    """the delivery's id: one attempt."""
    destination_id: str
    """the id of the destination."""
    event_id: str
    """the id of the event."""
    event_type: str
    """the event's type."""
    attempt: int
    """the number of this attempt, from 1."""
    trigger: Literal['SCHEDULED', 'MANUAL', 'TEST']
    """SCHEDULED: as planned; MANUAL: by redeliver; TEST: by test."""
    state: Literal['SUCCEEDED', 'FAILED']
    """its present state."""
    response_status: int | None
    """the receiver's HTTP status; null: there was no answer."""
    error_code: Literal['STATUS', 'REDIRECTED', 'TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_FAILED', 'NAME_NOT_RESOLVED', 'TLS_FAILED', 'TARGET_FORBIDDEN', 'INTERRUPTED'] | None
    """why the attempt failed; null: it did not."""
    duration_ms: int
    """the duration of the attempt."""
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
    """the deliveries."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class Event(Record):
    """An event of the journal; `payload` is as the reference describes it."""
    __slots__ = ()
    event_id: str
    """the event's id, unique for ever: a repeated event has the same."""
    type: Literal['limits.updated', 'scope.created', 'scope.cancelled', 'mailbox.created', 'mailbox.updated', 'mailbox.deleted', 'message.sent', 'message.claimed', 'message.acked', 'message.retried', 'message.rejected', 'message.failed', 'message.lease_expired', 'message.expired', 'message.cancelled', 'message.requeued', 'group.created', 'group.sealed', 'group.task_joined', 'group.decided', 'task.submitted', 'task.started', 'task.succeeded', 'task.failed', 'task.expired', 'task.cancelled', 'task.requeued', 'task.accepted', 'task.rejected', 'budget.created', 'budget.limit_changed', 'budget.reserved', 'budget.settled', 'budget.voided', 'budget.overdrawn', 'budget.reservation_overdue', 'barrier.created', 'barrier.arrived', 'barrier.released', 'barrier.cancelled', 'barrier.epoch_advanced', 'allowance.created', 'allowance.limit_changed', 'allowance.consumed', 'allowance.cooldown_started', 'waiter.queued', 'waiter.granted', 'waiter.cancelled', 'waiter.expired', 'schedule.created', 'schedule.updated', 'schedule.deleted', 'schedule.fired', 'schedule.refused', 'destination.created', 'destination.disabled', 'delivery.exhausted']
    aggregate: Literal['limits', 'scope', 'mailbox', 'message', 'group', 'task', 'budget', 'barrier', 'allowance', 'waiter', 'schedule', 'destination', 'delivery']
    aggregate_id: str
    """the object that it happened to."""
    scope_id: str | None
    occurred_at: str
    """when it happened, by the store's clock."""
    request_id: str | None
    """the request that caused it; null: time did."""
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
    """the cursor behind these events; never null."""


class EventWatch(Record):
    """A record of the API: `EventWatch`."""
    __slots__ = ()
    _records = {
        'events': Event,
    }
    events: list[Event]
    """the events, oldest first."""
    next_cursor: str
    """the cursor behind these events; never null."""


class VisibleSpace(Record):
    """A record of the API: `VisibleSpace`."""
    __slots__ = ()
    id: str
    """the record's id."""
    name: str | None
    """for people, and to find it by."""
    created_at: str
    """when it was created."""


class SpaceList(Record):
    """A record of the API: `SpaceList`."""
    __slots__ = ()
    _records = {
        'spaces': VisibleSpace,
    }
    spaces: list[VisibleSpace]
    """the spaces."""
    next_cursor: str | None
    """the cursor of the next page; null: this was the last."""


class MessageCompleteResult(TypedDict):
    """An argument, with the API's names: `MessageCompleteResult`."""

    payload: Any
    mailboxId: NotRequired[Id | None]
    scopeId: NotRequired[Id | None]
    workKey: NotRequired[str | None]
