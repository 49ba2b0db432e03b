# Generated from the OpenAPI document by `npm run generate`.
"""Every call of the API, by primitive, for asyncio programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, overload

from . import _calls as calls
from ._arguments import ABSENT, Amount, Id, Moment
from ._base import AsyncCalls, AsyncSender
from ._records import (
    Allowance,
    AllowanceList,
    Backlog,
    Barrier,
    BarrierList,
    Budget,
    BudgetList,
    BudgetSettle,
    BudgetView,
    BudgetVoid,
    CancelledRun,
    Census,
    Claim,
    Claims,
    CompletedMessage,
    Consumption,
    Cooldown,
    CreatedGroup,
    Delivery,
    DeliveryList,
    Destination,
    DestinationList,
    Event,
    EventList,
    EventWatch,
    GroupList,
    JoinedTask,
    JudgedTask,
    Mailbox,
    MailboxList,
    Message,
    MessageCompleteResult,
    MessageList,
    NackedMessage,
    NewDestination,
    Purged,
    RenewedClaim,
    Requeued,
    Reserved,
    RunView,
    Schedule,
    ScheduleList,
    Scope,
    ScopeList,
    SealedGroup,
    SentMessage,
    SpaceLimits,
    SpaceList,
    SubmittedTask,
    TaskGroup,
    Usage,
    VisibleSpace,
    Waiter,
    Waits,
)


class LimitsAsyncCalls(AsyncCalls):
    """The calls `limits.…`."""

    async def get(
        self,
        *,
        attempts: int = ABSENT,
    ) -> SpaceLimits:
        """The space's effective limits

        The limits that apply now: those set with PUT, cut to what the plan grants. Never refused
        for the space's own rate.

        `GET /v1/spaces/{spaceId}/limits`

        Raises:
            MusterError: PERMISSION_DENIED, SPACE_NOT_FOUND
        """
        return await self._send(calls.LIMITS_GET, {}, ABSENT, attempts)

    async def put(
        self,
        *,
        requests_per_minute: int | None = ABSENT,
        max_backlog: int | None = ABSENT,
        max_payload_bytes: int | None = ABSENT,
        max_lease_seconds: int | None = ABSENT,
        max_pending_waiters: int | None = ABSENT,
        max_armed_timers: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> SpaceLimits:
        """Set any of the limits

        Null puts one back to its default. Fields that are left out stay as they are; `{}` changes
        nothing. More than the plan grants is refused (409). After a change of plan, the lower of
        the figure set here and the plan's applies.

        `PUT /v1/spaces/{spaceId}/limits`

        Args:
            requests_per_minute: the most requests of a UTC minute; recovery calls are counted but
                never refused; at most 100000, and no more than the plan grants
            max_backlog: the most READY, DELAYED and CLAIMED messages in the space
            max_payload_bytes: the most bytes of a payload, input or result, as compact JSON; at
                most 65536, and no more than the plan grants
            max_lease_seconds: the longest lease of a claim
            max_pending_waiters: the most WAITING waiters in the space
            max_armed_timers: the most deadlines, delays and other moments ahead

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                PERMISSION_DENIED, SPACE_NOT_FOUND, ENTITLEMENT_EXCEEDED, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.LIMITS_PUT, {'requestsPerMinute': requests_per_minute, 'maxBacklog': max_backlog, 'maxPayloadBytes': max_payload_bytes, 'maxLeaseSeconds': max_lease_seconds, 'maxPendingWaiters': max_pending_waiters, 'maxArmedTimers': max_armed_timers}, idempotency_key, attempts)


class CensusAsyncCalls(AsyncCalls):
    """The calls `census.…`."""

    async def get(
        self,
        *,
        attempts: int = ABSENT,
    ) -> Census:
        """Counts of everything kept, by state

        Every state and the number of its records, zeros included. The figures come from counters,
        so it costs the same however much is stored.

        `GET /v1/spaces/{spaceId}/census`

        Raises:
            MusterError: PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.CENSUS_GET, {}, ABSENT, attempts)


class BacklogAsyncCalls(AsyncCalls):
    """The calls `backlog.…`."""

    async def get(
        self,
        *,
        attempts: int = ABSENT,
    ) -> Backlog:
        """What waits to be done or delivered, and since when the oldest of it has waited

        Messages and waiters that wait, deliveries that are still to be made, armed timers, each
        with the age of its oldest: what an alert looks at.

        `GET /v1/spaces/{spaceId}/backlog`

        Raises:
            MusterError: PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.BACKLOG_GET, {}, ABSENT, attempts)


class WaitsAsyncCalls(AsyncCalls):
    """The calls `waits.…`."""

    async def get(
        self,
        *,
        attempts: int = ABSENT,
    ) -> Waits:
        """What each waiting task and waiter waits for, and who holds what

        A task waits for others of its run that are before it (`blockedBy` HEAD_OF_LINE,
        `position`), for its `readyAt` (DELAY, or RETRY after an attempt), or for somebody to
        receive it (RECEIVER). A waiter waits for others in its queue (HEAD_OF_LINE), for units of
        the next window (WINDOW) or for the end of a cooldown (COOLDOWN), and is not granted
        before `blockedUntil`.

        `GET /v1/spaces/{spaceId}/ops/waits`

        Raises:
            MusterError: PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.WAITS_GET, {}, ABSENT, attempts)


class UsageAsyncCalls(AsyncCalls):
    """The calls `usage.…`."""

    async def get(
        self,
        *,
        from_: str = ABSENT,
        to: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Usage:
        """Operations and retained bytes of each UTC day, inclusive

        The last 30 days by default. Days are UTC, at most 400 in one answer, and zero where
        nothing happened. `operations` is the sum of `byCall`; `syscalls` also counts renewals,
        replays and empty receives.

        `GET /v1/spaces/{spaceId}/usage`

        Args:
            from_: the first UTC day, inclusive
            to: the last UTC day, inclusive

        Raises:
            MusterError: INVALID_DATE_RANGE, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.USAGE_GET, {'from': from_, 'to': to}, ABSENT, attempts)


class ScopeAsyncCalls(AsyncCalls):
    """The calls `scope.…`."""

    async def create(
        self,
        *,
        scope_id: Id | None = ABSENT,
        parent_scope_id: Id | None = ABSENT,
        name: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Scope:
        """Make a scope before its first use, with a name or below another

        200 where it exists already. Scopes also exist from their first use; this call makes one
        with a name, or below another. One that exists already is answered with 200 if its parent
        and name agree with what is given, else it is SCOPE_CONFLICT. A parent holds at most
        10,000 scopes made so. One that is never used goes with retention.

        `POST /v1/spaces/{spaceId}/scopes`

        Args:
            scope_id: the id of the scope; left out: a new one
            parent_scope_id: the scope that it is below; left out: none, it is a run
            name: for people, and to find it by; need not be unique; without control characters

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, SCOPE_CONFLICT,
                SCOPE_CANCELLED, SCOPE_DEPTH_EXCEEDED, SCOPE_CHILDREN_FULL, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.SCOPE_CREATE, {'scopeId': scope_id, 'parentScopeId': parent_scope_id, 'name': name}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        state: str = ABSENT,
        parent_scope_id: Id | None = ABSENT,
        name: str | None = ABSENT,
        attempts: int = ABSENT,
    ) -> ScopeList:
        """List scopes

        Newest first; by state, by parent, by name. `live` counts the READY, DELAYED and CLAIMED
        messages and the WAITING waiters of a scope and of all scopes below it.

        `GET /v1/spaces/{spaceId}/scopes`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            state: only those in this state; several with commas in between
            parent_scope_id: only those right below this scope
            name: only those of exactly this name; without control characters

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.SCOPE_LIST, {'limit': limit, 'cursor': cursor, 'state': state, 'parentScopeId': parent_scope_id, 'name': name}, ABSENT, attempts)

    def all(
        self,
        *,
        state: str = ABSENT,
        parent_scope_id: Id | None = ABSENT,
        name: str | None = ABSENT,
    ) -> AsyncIterator[Scope]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.SCOPE_LIST, 'scopes', {'state': state, 'parentScopeId': parent_scope_id, 'name': name})

    async def view(
        self,
        *,
        scope_id: Id,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> Scope:
        """A scope

        Its state, its parent and what is live in its subtree. With `waitSeconds` it answers once
        nothing is live in the scope and the scopes below it, cancelled or not, or as it then
        stands.

        `GET /v1/spaces/{spaceId}/scopes/{scopeId}`

        Args:
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, SCOPE_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.SCOPE_VIEW, {'scopeId': scope_id, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def cancel(
        self,
        *,
        scope_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> CancelledRun:
        """Stop a run

        Cancel the scope, all below it and what is live there; again answers how far that has
        come. From this step on the scope and all below it are CANCELLED: nothing is received,
        granted, released or satisfied there, tokens are CLAIM_LOST, and new work is
        SCOPE_CANCELLED. The records end in steps of at most 500, the first with this call, the
        others by workers within seconds; `done` says whether all have. Called again it goes on
        and answers the totals so far. Reservations stay until they are settled or voided.

        `POST /v1/spaces/{spaceId}/scopes/{scopeId}/cancel`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                SCOPE_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.SCOPE_CANCEL, {'scopeId': scope_id}, idempotency_key, attempts)


class RunAsyncCalls(AsyncCalls):
    """The calls `run.…`."""

    async def view(
        self,
        *,
        scope_id: Id,
        attempts: int = ABSENT,
    ) -> RunView:
        """A run

        What belongs to a scope and to those below it, newest first. Everything that belongs to
        the scope and to all scopes below it, without payloads, at most 200 of each list;
        `truncated` says that there are more, or some that the store has damaged.

        `GET /v1/spaces/{spaceId}/ops/runs/{scopeId}`

        Raises:
            MusterError: PERMISSION_DENIED, SCOPE_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.RUN_VIEW, {'scopeId': scope_id}, ABSENT, attempts)


class MailboxAsyncCalls(AsyncCalls):
    """The calls `mailbox.…`."""

    async def create(
        self,
        *,
        name: str,
        mode: Literal['WORK', 'INBOX'] | None = ABSENT,
        recipient_id: str | None = ABSENT,
        backlog_limit: int | None = ABSENT,
        max_attempts: int | None = ABSENT,
        retry_delay_seconds: int | None = ABSENT,
        max_retry_delay_seconds: int | None = ABSENT,
        unique: bool | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Mailbox:
        """Create a mailbox

        A work queue (WORK) or an inbox (INBOX); with unique, answer 200 with the oldest one of
        its name where there is one. The retry policy says how a message is tried again: before
        the attempt after the nth it pauses for min(maxRetryDelaySeconds, retryDelaySeconds ×
        2^(n−1)) seconds. `maxRetryDelaySeconds` is 3,600 by default, or `retryDelaySeconds` if
        that is more.

        `POST /v1/spaces/{spaceId}/mailboxes`

        Args:
            name: for people, and to find it by; need not be unique; without control characters
            mode: what it is for: WORK: work that any holder takes on; INBOX: notes to one
                recipient
            recipient_id: the only holder that may receive; of an INBOX only; without control
                characters
            backlog_limit: the most messages it holds that are READY, DELAYED or CLAIMED
            max_attempts: the most attempts before a message is FAILED
            retry_delay_seconds: the pause before the second attempt; it doubles before each
                further one
            max_retry_delay_seconds: the longest of those pauses
            unique: whether to make none where mailboxes of this name exist: the oldest one is
                then answered, with 200

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_CREATE, {'name': name, 'mode': mode, 'recipientId': recipient_id, 'backlogLimit': backlog_limit, 'maxAttempts': max_attempts, 'retryDelaySeconds': retry_delay_seconds, 'maxRetryDelaySeconds': max_retry_delay_seconds, 'unique': unique}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        name: str = ABSENT,
        attempts: int = ABSENT,
    ) -> MailboxList:
        """List mailboxes

        Newest first; by name. Deleted mailboxes are not listed. `counts.delayed` is the number of
        messages that wait for their `readyAt`.

        `GET /v1/spaces/{spaceId}/mailboxes`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            name: only those of exactly this name; without control characters

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_LIST, {'limit': limit, 'cursor': cursor, 'name': name}, ABSENT, attempts)

    def all(
        self,
        *,
        name: str = ABSENT,
    ) -> AsyncIterator[Mailbox]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.MAILBOX_LIST, 'mailboxes', {'name': name})

    async def view(
        self,
        *,
        mailbox_id: Id,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> Mailbox:
        """A mailbox, with how many messages it holds

        With waitSeconds, once it holds none that is not finished. With `waitSeconds` it answers
        once the mailbox has no READY, DELAYED or CLAIMED message, or as it then stands.

        `GET /v1/spaces/{spaceId}/mailboxes/{mailboxId}`

        Args:
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_VIEW, {'mailboxId': mailbox_id, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def update(
        self,
        *,
        mailbox_id: Id,
        name: str | None = ABSENT,
        backlog_limit: int | None = ABSENT,
        max_attempts: int | None = ABSENT,
        retry_delay_seconds: int | None = ABSENT,
        max_retry_delay_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Mailbox:
        """Change any of name, backlogLimit and retry policy

        What lies in the mailbox stays, whatever the limit. Any subset of the fields; values that
        change nothing emit no event and count as no operation. `maxAttempts` is that of messages
        sent from now on; the pauses are those of the next retries.

        `PATCH /v1/spaces/{spaceId}/mailboxes/{mailboxId}`

        Args:
            name: the new name; without control characters
            backlog_limit: the most messages it holds that are READY, DELAYED or CLAIMED
            max_attempts: the most attempts of messages that are sent from now on without a
                maxAttempts of their own
            retry_delay_seconds: the pause before the second attempt; it doubles before each
                further one
            max_retry_delay_seconds: the longest of those pauses

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_UPDATE, {'mailboxId': mailbox_id, 'name': name, 'backlogLimit': backlog_limit, 'maxAttempts': max_attempts, 'retryDelaySeconds': retry_delay_seconds, 'maxRetryDelaySeconds': max_retry_delay_seconds}, idempotency_key, attempts)

    async def delete(
        self,
        *,
        mailbox_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> None:
        """Delete a mailbox without live messages and undecided groups

        Its finished messages stay for their time. Refused with MAILBOX_NOT_EMPTY while the
        mailbox has READY, DELAYED or CLAIMED messages, or undecided groups. Its finished messages
        stay readable until retention removes them, but cannot be requeued.

        `DELETE /v1/spaces/{spaceId}/mailboxes/{mailboxId}`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND, MAILBOX_NOT_EMPTY,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_DELETE, {'mailboxId': mailbox_id}, idempotency_key, attempts)

    async def purge(
        self,
        *,
        mailbox_id: Id,
        scope_id: Id | None = ABSENT,
        max: int | None = ABSENT,
        cursor: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Purged:
        """Cancel the READY and DELAYED messages of a mailbox, or of a scope's subtree in it

        Oldest first, so many in a step. Goes in steps of bounded work: call it again with
        `nextCursor` until that is null. A step may change fewer messages than `max`. Purged
        messages have the reason CANCELLED_BY_CALLER, CLAIMED ones are left alone. A step counts
        as one operation if it changed anything.

        `POST /v1/spaces/{spaceId}/mailboxes/{mailboxId}/purge`

        Args:
            scope_id: only messages of this scope and of the scopes below it
            max: the most messages that this step changes
            cursor: the nextCursor of the step before; left out: begins with the oldest

        Raises:
            MusterError: INVALID_CURSOR, MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.MAILBOX_PURGE, {'mailboxId': mailbox_id, 'scopeId': scope_id, 'max': max, 'cursor': cursor}, idempotency_key, attempts)

    async def requeue(
        self,
        *,
        mailbox_id: Id,
        state: Literal['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'],
        scope_id: Id | None = ABSENT,
        max: int | None = ABSENT,
        cursor: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Requeued:
        """Requeue the messages of a final state

        Oldest first, so many in a step; those that may not be are passed over. Goes in steps:
        call it again with `nextCursor` until that is null. `passedOver` counts the messages of
        the step that stay as they are, by the code of the error that a requeue of each alone
        would answer: GROUP_DECIDED, VERDICT_CONFLICT or SCOPE_CANCELLED. A limit that leaves no
        room ends a step early, and is an error only where the step has done nothing; so do
        messages that the store has damaged: MESSAGES_DAMAGED has the cursor that continues after
        them. A step counts as one operation if it changed anything.

        `POST /v1/spaces/{spaceId}/mailboxes/{mailboxId}/requeue`

        Args:
            state: only messages of this state
            scope_id: only messages of this scope and of the scopes below it
            max: the most messages that this step changes
            cursor: the nextCursor of the step before; left out: begins with the oldest

        Raises:
            MusterError: INVALID_CURSOR, MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND,
                BACKLOG_FULL, TIMERS_FULL, ACTIVE_TASKS_LIMITED, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MAILBOX_REQUEUE, {'mailboxId': mailbox_id, 'state': state, 'scopeId': scope_id, 'max': max, 'cursor': cursor}, idempotency_key, attempts)


class MessageAsyncCalls(AsyncCalls):
    """The calls `message.…`."""

    async def send(
        self,
        *,
        mailbox_id: Id,
        scope_id: Id,
        payload: Any,
        work_key: str | None = ABSENT,
        deadline: Moment | None = ABSENT,
        delay_seconds: int | None = ABSENT,
        max_attempts: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> SentMessage:
        """Send a message

        A workKey known in the mailbox answers 200 with the first message. With `delaySeconds` the
        message is DELAYED until its `readyAt`, and READY from then on, ordered as ready since
        that moment; a delay that reaches the deadline is refused (400). A DELAYED message counts
        wherever a READY one does, and as an armed timer.

        `POST /v1/spaces/{spaceId}/mailboxes/{mailboxId}/messages`

        Args:
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            payload: what the receiver gets; any JSON value; comes back as it was sent
            work_key: the sender's name for this work: a known one of the mailbox answers the
                first message, with replay true; without control characters
            deadline: when the message expires unless it has ended by then; must lie in the future
            delay_seconds: the seconds for which the message is DELAYED: nobody receives it
            max_attempts: the most attempts before the message is FAILED; left out: the mailbox's

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND,
                SCOPE_CANCELLED, BACKLOG_FULL, TIMERS_FULL, ACTIVE_TASKS_LIMITED, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED,
                MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_SEND, {'mailboxId': mailbox_id, 'scopeId': scope_id, 'payload': payload, 'workKey': work_key, 'deadline': deadline, 'delaySeconds': delay_seconds, 'maxAttempts': max_attempts}, idempotency_key, attempts)

    async def list(
        self,
        *,
        mailbox_id: Id,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        state: str = ABSENT,
        scope_id: Id = ABSENT,
        work_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> MessageList:
        """List messages

        Oldest first; by state, scope subtree or workKey. A page may be short, or even empty: it
        ends at 4 MiB, or at 1,000 records looked at. Go on with `nextCursor` until it is null. A
        page that begins with messages that the store has damaged is MESSAGES_DAMAGED, and has the
        cursor that continues after them.

        `GET /v1/spaces/{spaceId}/mailboxes/{mailboxId}/messages`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            state: only those in this state; several with commas in between
            scope_id: only those of this scope and of the scopes below it
            work_key: only the one that was sent with this workKey; without control characters

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND,
                RATE_LIMITED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_LIST, {'mailboxId': mailbox_id, 'limit': limit, 'cursor': cursor, 'state': state, 'scopeId': scope_id, 'workKey': work_key}, ABSENT, attempts)

    def all(
        self,
        *,
        mailbox_id: Id,
        state: str = ABSENT,
        scope_id: Id = ABSENT,
        work_key: str = ABSENT,
    ) -> AsyncIterator[Message]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.MESSAGE_LIST, 'messages', {'mailboxId': mailbox_id, 'state': state, 'scopeId': scope_id, 'workKey': work_key})

    async def view(
        self,
        *,
        message_id: Id,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> Message:
        """A message with its payload and its result

        With waitSeconds, once it has ended. With `waitSeconds` it answers once the message is
        ACKED, FAILED, REJECTED, EXPIRED or CANCELLED, or as it then stands.

        `GET /v1/spaces/{spaceId}/messages/{messageId}`

        Args:
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, MESSAGE_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED,
                MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_VIEW, {'messageId': message_id, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def cancel(
        self,
        *,
        message_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Message:
        """Cancel a message that is ready or claimed

        A claim on it is lost. READY, DELAYED and CLAIMED messages become CANCELLED with the
        reason CANCELLED_BY_CALLER. One that is CANCELLED already is answered as it is; one that
        ended otherwise is MESSAGE_FINISHED.

        `POST /v1/spaces/{spaceId}/messages/{messageId}/cancel`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                MESSAGE_NOT_FOUND, SPACE_NOT_FOUND, MESSAGE_FINISHED, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_CANCEL, {'messageId': message_id}, idempotency_key, attempts)

    async def requeue(
        self,
        *,
        message_id: Id,
        delay_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Message:
        """Bring a message back to its mailbox

        A failed, rejected, expired or cancelled one, with all its attempts. A FAILED, REJECTED,
        EXPIRED or CANCELLED message is READY again, or DELAYED with `delaySeconds`. It keeps its
        id, workKey, `lastError` and `progress`; its attempts are counted anew, and a deadline
        that has passed is cleared. Members of decided groups, those with a verdict and messages
        of cancelled runs stay as they are. Limits and plan are tested as for a send.

        `POST /v1/spaces/{spaceId}/messages/{messageId}/requeue`

        Args:
            delay_seconds: the seconds for which the message is DELAYED: nobody receives it

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, MESSAGE_NOT_FOUND, SPACE_NOT_FOUND, MESSAGE_NOT_REQUEUABLE,
                SCOPE_CANCELLED, GROUP_DECIDED, VERDICT_CONFLICT, MAILBOX_NOT_FOUND, BACKLOG_FULL,
                TIMERS_FULL, ACTIVE_TASKS_LIMITED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_REQUEUE, {'messageId': message_id, 'delaySeconds': delay_seconds}, idempotency_key, attempts)

    @overload
    async def recv(
        self,
        *,
        mailbox_id: Id,
        scope_id: str,
        holder: str,
        holder_session: str,
        max: int,
        lease_seconds: int | None = ABSENT,
        wait_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Claims | None: ...
    @overload
    async def recv(
        self,
        *,
        mailbox_id: Id,
        scope_id: str,
        holder: str,
        holder_session: str,
        lease_seconds: int | None = ABSENT,
        wait_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Claim | None: ...
    async def recv(
        self,
        *,
        mailbox_id: Id,
        scope_id: str,
        holder: str,
        holder_session: str,
        lease_seconds: int | None = ABSENT,
        wait_seconds: int | None = ABSENT,
        max: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Claim | Claims | None:
        """Claim the oldest ready message of a scope's subtree

        204 when none is ready. First in, first out within a run. With `scopeId` `*` runs take
        turns: each run that has ready messages gives one before any gives a second. With `max`
        the answer is `{"messages":[…]}`, at least one and at most 4 MiB, each with a token of its
        own; the plan's claims and operations may cut it short. `progress` and `lastError` of a
        message are what earlier attempts left.

        `POST /v1/spaces/{spaceId}/mailboxes/{mailboxId}/recv`

        Args:
            scope_id: the run whose messages to receive, with all below it; `*`: every run in turn
            holder: its holder: a name that the caller chose; without control characters
            holder_session: the session of the holder: any text that is new with each start, kept
                with the claim; without control characters
            lease_seconds: the lease unless it is renewed; left out: 30, or the space's
                maxLeaseSeconds if that is less
            wait_seconds: how long the request may be held until a message is ready; prefer 20 to
                30 to asking again
            max: the most messages to receive; the answer is then a list, `messages`; left out:
                one message, by itself

        Raises:
            MusterError: LEASE_LIMIT_EXCEEDED, MALFORMED_JSON, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, MAILBOX_NOT_FOUND, SPACE_NOT_FOUND, RECIPIENT_MISMATCH,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, CONCURRENCY_LIMITED, RATE_LIMITED
        """
        if max is ABSENT:
            return await self._send(calls.MESSAGE_RECV, {'mailboxId': mailbox_id, 'scopeId': scope_id, 'holder': holder, 'holderSession': holder_session, 'leaseSeconds': lease_seconds, 'waitSeconds': wait_seconds}, idempotency_key, attempts)
        return await self._send(calls.MESSAGE_RECV_MANY, {'mailboxId': mailbox_id, 'scopeId': scope_id, 'holder': holder, 'holderSession': holder_session, 'leaseSeconds': lease_seconds, 'waitSeconds': wait_seconds, 'max': max}, idempotency_key, attempts)

    async def renew(
        self,
        *,
        message_id: Id,
        token: str,
        lease_seconds: int | None = ABSENT,
        progress: Any = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> RenewedClaim:
        """Extend the lease of a claim, counted from now

        May shorten it. `progress` is kept with the message over its attempts: the next `recv`
        answers the last one that was given. A renewal is no operation and emits no event.

        `POST /v1/spaces/{spaceId}/messages/{messageId}/renew`

        Args:
            token: the claim's token, as recv answered it with this message; without control
                characters
            lease_seconds: the lease from now on; left out: as for recv
            progress: how far the work has come, for the next attempt; at most 4,096 bytes; any
                JSON value; comes back as it was sent

        Raises:
            MusterError: LEASE_LIMIT_EXCEEDED, MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED,
                IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED, MESSAGE_NOT_FOUND, SPACE_NOT_FOUND,
                CLAIM_LOST, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED,
                MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_RENEW, {'messageId': message_id, 'token': token, 'leaseSeconds': lease_seconds, 'progress': progress}, idempotency_key, attempts)

    async def complete(
        self,
        *,
        message_id: Id,
        token: str,
        result: MessageCompleteResult | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> CompletedMessage:
        """Acknowledge a message

        With an optional result, recorded and published in the same step. Ends the claim: the
        message is ACKED, and its task SUCCEEDED. A `result` with `mailboxId` and `scopeId` is
        sent there in the same step. The same token again answers as before, with `replay` true;
        after the lease was lost it is refused (`CLAIM_LOST`): drop the work.

        `POST /v1/spaces/{spaceId}/messages/{messageId}/complete`

        Args:
            token: the claim's token, as recv answered it with this message; without control
                characters
            result: what came of the work: kept with the message, and sent on where mailboxId says
                so; left out: nothing; mailboxId, scopeId: all of them or none; workKey only with
                mailboxId

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                PERMISSION_DENIED, MESSAGE_NOT_FOUND, SPACE_NOT_FOUND, CLAIM_LOST, MAILBOX_NOT_FOUND,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_COMPLETE, {'messageId': message_id, 'token': token, 'result': result}, idempotency_key, attempts)

    async def nack(
        self,
        *,
        message_id: Id,
        token: str,
        retry: bool,
        counts_attempt: bool | None = ABSENT,
        delay_seconds: int | None = ABSENT,
        error: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> NackedMessage:
        """Give a message back for another attempt (retry true), or refuse it for good

        With `retry` true the message is READY again, or DELAYED until `readyAt` where its mailbox
        has a retry policy or `delaySeconds` is given; after the last attempt it is FAILED. A
        pause may pass the deadline: the message expires then. With `countsAttempt` false the
        message goes back without having been tried: its attempt is taken back, so it is never
        FAILED by that, and its only pause is `delaySeconds`.

        `POST /v1/spaces/{spaceId}/messages/{messageId}/nack`

        Args:
            token: the claim's token, as recv answered it with this message; without control
                characters
            retry: whether another attempt may succeed: true: try again, if one is left; false:
                the message is REJECTED
            counts_attempt: false: the work was not tried, so the attempt does not count; only
                with retry true, best with delaySeconds
            delay_seconds: the pause before the next attempt, in place of the mailbox's own; only
                with retry true
            error: why it failed, in words that help the next attempt: kept as lastError; without
                control characters

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                PERMISSION_DENIED, MESSAGE_NOT_FOUND, SPACE_NOT_FOUND, CLAIM_LOST, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, MESSAGES_DAMAGED
        """
        return await self._send(calls.MESSAGE_NACK, {'messageId': message_id, 'token': token, 'retry': retry, 'countsAttempt': counts_attempt, 'delaySeconds': delay_seconds, 'error': error}, idempotency_key, attempts)


class GroupAsyncCalls(AsyncCalls):
    """The calls `group.…`."""

    async def create(
        self,
        *,
        mailbox_id: Id,
        condition: Literal['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL'],
        parent_scope_id: Id | None = ABSENT,
        threshold: int | None = ABSENT,
        deadline: Moment | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> CreatedGroup:
        """Create a task group

        One decision, at the first accept, at `threshold` accepts or once all members are
        terminal. Its members are delivered through `mailboxId`, in a scope of the group's own.
        Seal it when all members are there, so that it can be found UNSATISFIABLE; a `deadline`
        decides it as EXPIRED.

        `POST /v1/spaces/{spaceId}/task-groups`

        Args:
            mailbox_id: the id of the mailbox
            condition: what decides it: the first accepted result, `threshold` of them, or the end
                of all members
            parent_scope_id: the run that the group belongs to; left out: it is a run of its own
            threshold: the accepted results that decide the group; required with N_ACCEPTED,
                ignored otherwise
            deadline: when it expires unless it has ended by then; null: never

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, MAILBOX_NOT_FOUND,
                MAILBOX_MODE_INVALID, SCOPE_CANCELLED, SCOPE_DEPTH_EXCEEDED, SCOPE_CHILDREN_FULL,
                TIMERS_FULL, ACTIVE_RUNS_LIMITED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.GROUP_CREATE, {'mailboxId': mailbox_id, 'condition': condition, 'parentScopeId': parent_scope_id, 'threshold': threshold, 'deadline': deadline}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        state: str = ABSENT,
        attempts: int = ABSENT,
    ) -> GroupList:
        """List task groups

        Newest first; by state. Without members; the view of a group has them.

        `GET /v1/spaces/{spaceId}/task-groups`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            state: only those in this state; several with commas in between

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED,
                MESSAGES_DAMAGED
        """
        return await self._send(calls.GROUP_LIST, {'limit': limit, 'cursor': cursor, 'state': state}, ABSENT, attempts)

    def all(
        self,
        *,
        state: str = ABSENT,
    ) -> AsyncIterator[TaskGroup]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.GROUP_LIST, 'groups', {'state': state})

    async def view(
        self,
        *,
        group_id: Id,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> TaskGroup:
        """A task group

        Its state, outcome and members with their verdicts. With `waitSeconds` it answers once the
        group is DECIDED, or as it then stands. A member's `lastError` is what the last nack of
        its message said.

        `GET /v1/spaces/{spaceId}/task-groups/{groupId}`

        Args:
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, GROUP_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED,
                MESSAGES_DAMAGED
        """
        return await self._send(calls.GROUP_VIEW, {'groupId': group_id, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def seal(
        self,
        *,
        group_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> SealedGroup:
        """Close the membership

        Again answers the same. No member can be added from then on. A group that cannot reach its
        condition any more is decided as UNSATISFIABLE at once.

        `POST /v1/spaces/{spaceId}/task-groups/{groupId}/seal`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                GROUP_NOT_FOUND, SPACE_NOT_FOUND, GROUP_DECIDED, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.GROUP_SEAL, {'groupId': group_id}, idempotency_key, attempts)

    async def join(
        self,
        *,
        group_id: Id,
        task_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> JoinedTask:
        """Make an outside task a member of an OPEN group

        One that is PENDING, RUNNING or SUCCEEDED and in no group. The task keeps its mailbox and
        its scope, and is a member in every other respect. Joining again is fine, after the seal,
        too.

        `POST /v1/spaces/{spaceId}/task-groups/{groupId}/join-task`

        Args:
            task_id: the id of the message's task

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, GROUP_NOT_FOUND, SPACE_NOT_FOUND, SCOPE_CANCELLED, GROUP_NOT_OPEN,
                TASK_NOT_FOUND, TASK_NOT_JOINABLE, GROUP_FULL, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED, MESSAGES_DAMAGED
        """
        return await self._send(calls.GROUP_JOIN, {'groupId': group_id, 'taskId': task_id}, idempotency_key, attempts)


class TaskAsyncCalls(AsyncCalls):
    """The calls `task.…`."""

    async def submit(
        self,
        *,
        group_id: Id,
        task_key: str,
        input: Any = ABSENT,
        deadline: Moment | None = ABSENT,
        delay_seconds: int | None = ABSENT,
        max_attempts: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> SubmittedTask:
        """Submit a member task, delivered through the group's mailbox

        The member's message is sent to the group's mailbox, in the group's scope. `delaySeconds`
        and `maxAttempts` work as for a send.

        `POST /v1/spaces/{spaceId}/task-groups/{groupId}/tasks`

        Args:
            task_key: the caller's name for the task, unique in its group; without control
                characters
            input: what the receiver gets as payload; any JSON value; comes back as it was sent
            deadline: when the message expires unless it has ended by then; must lie in the future
            delay_seconds: the seconds for which the message is DELAYED: nobody receives it
            max_attempts: the most attempts before the message is FAILED; left out: the mailbox's

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, GROUP_NOT_FOUND, SPACE_NOT_FOUND,
                SCOPE_CANCELLED, GROUP_NOT_OPEN, TASK_KEY_CONFLICT, GROUP_FULL, BACKLOG_FULL,
                TIMERS_FULL, ACTIVE_TASKS_LIMITED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.TASK_SUBMIT, {'groupId': group_id, 'taskKey': task_key, 'input': input, 'deadline': deadline, 'delaySeconds': delay_seconds, 'maxAttempts': max_attempts}, idempotency_key, attempts)

    async def accept(
        self,
        *,
        group_id: Id,
        task_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> JudgedTask:
        """Accept the result of a SUCCEEDED member

        The first verdict stands. The accept that makes the group's condition true decides it, and
        cancels the members that nobody has begun. The same verdict again is fine, the other one
        is refused (`VERDICT_CONFLICT`).

        `POST /v1/spaces/{spaceId}/task-groups/{groupId}/tasks/{taskId}/accept`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                GROUP_NOT_FOUND, TASK_NOT_FOUND, SPACE_NOT_FOUND, VERDICT_CONFLICT,
                TASK_NOT_SUCCEEDED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.TASK_ACCEPT, {'groupId': group_id, 'taskId': task_id}, idempotency_key, attempts)

    async def reject(
        self,
        *,
        group_id: Id,
        task_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> JudgedTask:
        """Reject a member that is done, however it ended

        The first verdict stands. A sealed group whose condition cannot come true any more is
        decided as UNSATISFIABLE with it. The same verdict again is fine, the other one is refused
        (`VERDICT_CONFLICT`).

        `POST /v1/spaces/{spaceId}/task-groups/{groupId}/tasks/{taskId}/reject`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                GROUP_NOT_FOUND, TASK_NOT_FOUND, SPACE_NOT_FOUND, VERDICT_CONFLICT, TASK_NOT_TERMINAL,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.TASK_REJECT, {'groupId': group_id, 'taskId': task_id}, idempotency_key, attempts)


class BudgetAsyncCalls(AsyncCalls):
    """The calls `budget.…`."""

    async def create(
        self,
        *,
        name: str,
        currency: str,
        scale: int,
        limit_minor: Amount,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Budget:
        """Create a budget

        Its name is unique in the space. Always, exactly: limit = reserved + settled + available.
        Amounts are strings of up to 18 digits, in minor units of `currency` as `scale` says: with
        scale 2, `"1250"` is 12.50.

        `POST /v1/spaces/{spaceId}/budgets`

        Args:
            name: for people, and to find it by; without control characters
            currency: the three letters of ISO 4217, or a name of your own for other units
            scale: the digits of an amount behind the point: 2 for cents
            limit_minor: the whole budget, in minor units

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, BUDGET_EXISTS,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.BUDGET_CREATE, {'name': name, 'currency': currency, 'scale': scale, 'limitMinor': limit_minor}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        name: str = ABSENT,
        attempts: int = ABSENT,
    ) -> BudgetList:
        """List budgets with their balances

        Newest first; by name. The balances are those of the moment: limit = reserved + settled +
        available.

        `GET /v1/spaces/{spaceId}/budgets`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            name: only those of exactly this name; without control characters

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.BUDGET_LIST, {'limit': limit, 'cursor': cursor, 'name': name}, ABSENT, attempts)

    def all(
        self,
        *,
        name: str = ABSENT,
    ) -> AsyncIterator[Budget]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.BUDGET_LIST, 'budgets', {'name': name})

    async def view(
        self,
        *,
        budget_id: Id,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        state: str = ABSENT,
        attempts: int = ABSENT,
    ) -> BudgetView:
        """A budget with its balances and a page of its reservations

        ACTIVE ones first, then closed ones, newest first. Filter the reservations by `state`; the
        balances are those of the whole budget, whatever the filter.

        `GET /v1/spaces/{spaceId}/budgets/{budgetId}`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            state: only those in this state; several with commas in between

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, BUDGET_NOT_FOUND, SPACE_NOT_FOUND,
                RATE_LIMITED
        """
        return await self._send(calls.BUDGET_VIEW, {'budgetId': budget_id, 'limit': limit, 'cursor': cursor, 'state': state}, ABSENT, attempts)

    async def update(
        self,
        *,
        budget_id: Id,
        limit_minor: Amount,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Budget:
        """Change the limit of a budget, never below what is reserved and settled

        Refused with LIMIT_BELOW_USE below what is reserved and settled together. The same limit
        again changes nothing. A limit that also covers what the budget is overdrawn by settles
        that; one that covers less leaves it.

        `PATCH /v1/spaces/{spaceId}/budgets/{budgetId}`

        Args:
            limit_minor: the new limit, in minor units, as digits

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, BUDGET_NOT_FOUND, SPACE_NOT_FOUND,
                LIMIT_BELOW_USE, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED,
                RATE_LIMITED
        """
        return await self._send(calls.BUDGET_UPDATE, {'budgetId': budget_id, 'limitMinor': limit_minor}, idempotency_key, attempts)

    async def reserve(
        self,
        *,
        budget_id: Id,
        scope_id: Id,
        holder: str,
        amount_minor: Amount,
        settle_by: Moment | None = ABSENT,
        work_key: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Reserved:
        """Reserve an amount

        A known workKey answers the reservation that was made with it. Once settleBy has passed
        the reservation is overdue, and nothing else happens to it. A `workKey` lets a second
        attempt find what the first one reserved: whoever asks, the same key and amount answer the
        first reservation as it now stands, with `replay` true; another amount is
        WORK_KEY_CONFLICT. The key is known as long as the reservation is kept.

        `POST /v1/spaces/{spaceId}/budgets/{budgetId}/reserve`

        Args:
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            holder: its holder: a name that the caller chose; without control characters
            amount_minor: the amount to set aside, in minor units, as digits: "250" is 2.50 at
                scale 2
            settle_by: when the reservation becomes overdue unless it is settled or voided before
            work_key: the caller's name for what it pays: a known one of the budget answers the
                first reservation, with replay true; without control characters

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, BUDGET_NOT_FOUND, SPACE_NOT_FOUND,
                WORK_KEY_CONFLICT, SCOPE_CANCELLED, TIMERS_FULL, ACTIVE_RUNS_LIMITED,
                INSUFFICIENT_BUDGET, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.BUDGET_RESERVE, {'budgetId': budget_id, 'scopeId': scope_id, 'holder': holder, 'amountMinor': amount_minor, 'settleBy': settle_by, 'workKey': work_key}, idempotency_key, attempts)

    async def settle(
        self,
        *,
        budget_id: Id,
        reservation_id: Id,
        amount_minor: Amount,
        work_key: str,
        overrun: bool | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> BudgetSettle:
        """Settle part of a reservation or all of it

        What is left stays reserved. Idempotent per workKey. Spends from what the reservation has
        left, never more (`SETTLEMENT_EXCEEDS_RESERVATION`), unless `overrun` is true. Settle as
        often as you like; once nothing is left, the reservation is SETTLED. Void what will not be
        used.

        `POST /v1/spaces/{spaceId}/budgets/{budgetId}/settle`

        Args:
            reservation_id: the id of the reservation
            amount_minor: the amount spent, in minor units, as digits: "250" is 2.50 at scale 2
            work_key: the caller's name for the entry: a known one changes nothing and answers the
                first entry; without control characters
            overrun: whether to record more than is left, as really spent: the budget pays the
                rest, and may be overdrawn

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                BUDGET_NOT_FOUND, SPACE_NOT_FOUND, WORK_KEY_CONFLICT, RESERVATION_NOT_FOUND,
                RESERVATION_CLOSED, SETTLEMENT_EXCEEDS_RESERVATION, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.BUDGET_SETTLE, {'budgetId': budget_id, 'reservationId': reservation_id, 'amountMinor': amount_minor, 'workKey': work_key, 'overrun': overrun}, idempotency_key, attempts)

    async def void(
        self,
        *,
        budget_id: Id,
        reservation_id: Id,
        work_key: str,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> BudgetVoid:
        """Release what is left of a reservation

        Idempotent per workKey. What was not settled is available again, and the reservation is
        VOIDED.

        `POST /v1/spaces/{spaceId}/budgets/{budgetId}/void`

        Args:
            reservation_id: the id of the reservation
            work_key: the caller's name for the entry: a known one changes nothing and answers the
                first entry; without control characters

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                BUDGET_NOT_FOUND, SPACE_NOT_FOUND, WORK_KEY_CONFLICT, RESERVATION_NOT_FOUND,
                RESERVATION_CLOSED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.BUDGET_VOID, {'budgetId': budget_id, 'reservationId': reservation_id, 'workKey': work_key}, idempotency_key, attempts)


class BarrierAsyncCalls(AsyncCalls):
    """The calls `barrier.…`."""

    async def create(
        self,
        *,
        scope_id: Id,
        target: int,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Barrier:
        """Create a barrier that releases at its target of arrivals

        Everybody arrives with a key of their own and waits for it with `waitSeconds`. Opened
        again by nextEpoch, it is used for the next phase.

        `POST /v1/spaces/{spaceId}/barriers`

        Args:
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            target: the arrivals that release it

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, SCOPE_CANCELLED,
                ACTIVE_RUNS_LIMITED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.BARRIER_CREATE, {'scopeId': scope_id, 'target': target}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        state: str = ABSENT,
        attempts: int = ABSENT,
    ) -> BarrierList:
        """List barriers

        Newest first; by state. Go on with `nextCursor` until it is null.

        `GET /v1/spaces/{spaceId}/barriers`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            state: only those in this state; several with commas in between

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.BARRIER_LIST, {'limit': limit, 'cursor': cursor, 'state': state}, ABSENT, attempts)

    def all(
        self,
        *,
        state: str = ABSENT,
    ) -> AsyncIterator[Barrier]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.BARRIER_LIST, 'barriers', {'state': state})

    async def view(
        self,
        *,
        barrier_id: Id,
        epoch: int = ABSENT,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> Barrier:
        """A barrier

        Its epoch, arrivals and state. With `waitSeconds` it answers once the barrier is not OPEN,
        or once `epoch`, where that is given, is released, cancelled or past; or as it then
        stands.

        `GET /v1/spaces/{spaceId}/barriers/{barrierId}`

        Args:
            epoch: the epoch to wait for, with waitSeconds; left out: the one that the barrier is
                in
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, BARRIER_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.BARRIER_VIEW, {'barrierId': barrier_id, 'epoch': epoch, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def arrive(
        self,
        *,
        barrier_id: Id,
        arrival_key: str,
        epoch: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Barrier:
        """Arrive, once per arrivalKey and epoch

        The arrival that reaches the target releases. A repeated `arrivalKey` changes nothing and
        is answered as the first time, so arriving is safe to retry. `epoch` guards against
        arriving late: any other than the barrier's is refused (`EPOCH_MISMATCH`).

        `POST /v1/spaces/{spaceId}/barriers/{barrierId}/arrive`

        Args:
            arrival_key: who arrives: the same key counts once in an epoch; without control
                characters
            epoch: the epoch to arrive in; any other than the present one is refused

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                BARRIER_NOT_FOUND, SPACE_NOT_FOUND, EPOCH_MISMATCH, BARRIER_RELEASED,
                BARRIER_CANCELLED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.BARRIER_ARRIVE, {'barrierId': barrier_id, 'arrivalKey': arrival_key, 'epoch': epoch}, idempotency_key, attempts)

    async def next_epoch(
        self,
        *,
        barrier_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Barrier:
        """Open a RELEASED or CANCELLED barrier again, in the next epoch

        The epoch counts on, and the arrivals begin at none.

        `POST /v1/spaces/{spaceId}/barriers/{barrierId}/nextEpoch`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, BARRIER_NOT_FOUND, SPACE_NOT_FOUND, SCOPE_CANCELLED,
                BARRIER_NOT_RELEASED, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE,
                IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.BARRIER_NEXT_EPOCH, {'barrierId': barrier_id}, idempotency_key, attempts)

    async def cancel(
        self,
        *,
        barrier_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Barrier:
        """Cancel an OPEN barrier

        Nobody who waits for it gets through: they see CANCELLED. Cancelling again is fine.

        `POST /v1/spaces/{spaceId}/barriers/{barrierId}/cancel`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, BARRIER_NOT_FOUND, SPACE_NOT_FOUND, BARRIER_RELEASED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.BARRIER_CANCEL, {'barrierId': barrier_id}, idempotency_key, attempts)


class AllowanceAsyncCalls(AsyncCalls):
    """The calls `allowance.…`."""

    async def create(
        self,
        *,
        name: str,
        units_limit: int,
        window_seconds: int,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Allowance:
        """Create an allowance

        So many units in each fixed window. Windows are fixed: with `windowSeconds` 60 one begins
        with each minute. Units that a window does not use are gone.

        `POST /v1/spaces/{spaceId}/allowances`

        Args:
            name: for people, and to find it by; without control characters
            units_limit: the units of each window
            window_seconds: the length of a window; windows begin at multiples of it since 1970

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, ALLOWANCE_EXISTS,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_CREATE, {'name': name, 'unitsLimit': units_limit, 'windowSeconds': window_seconds}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        name: str = ABSENT,
        attempts: int = ABSENT,
    ) -> AllowanceList:
        """List allowances with their balances of the current window

        Newest first; by name. The balance is that of the current window; `waiting` is the length
        of the queue.

        `GET /v1/spaces/{spaceId}/allowances`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            name: only those of exactly this name; without control characters

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_LIST, {'limit': limit, 'cursor': cursor, 'name': name}, ABSENT, attempts)

    def all(
        self,
        *,
        name: str = ABSENT,
    ) -> AsyncIterator[Allowance]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.ALLOWANCE_LIST, 'allowances', {'name': name})

    async def view(
        self,
        *,
        allowance_id: Id,
        attempts: int = ABSENT,
    ) -> Allowance:
        """An allowance's balance of the current window, and its cooldown

        Units that are left in the current window, and until when it lasts.

        `GET /v1/spaces/{spaceId}/allowances/{allowanceId}`

        Raises:
            MusterError: PERMISSION_DENIED, ALLOWANCE_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_VIEW, {'allowanceId': allowance_id}, ABSENT, attempts)

    async def update(
        self,
        *,
        allowance_id: Id,
        units_limit: int,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Allowance:
        """Change the units of each window, at once

        Waiters that fit now are granted in the same step. At once, also for the current window.
        Refused with LIMIT_BELOW_USE below the units of any waiter that is WAITING.
        `availableUnits` is never less than 0.

        `PATCH /v1/spaces/{spaceId}/allowances/{allowanceId}`

        Args:
            units_limit: the new units of each window

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, ALLOWANCE_NOT_FOUND, SPACE_NOT_FOUND,
                LIMIT_BELOW_USE, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED,
                RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_UPDATE, {'allowanceId': allowance_id, 'unitsLimit': units_limit}, idempotency_key, attempts)

    async def consume(
        self,
        *,
        allowance_id: Id,
        scope_id: Id,
        units: int,
        holder: str,
        work_key: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Consumption:
        """Use units of the current window

        Refused while anyone waits; a known workKey answers its first consumption. All units at
        once or none. It never overtakes those who wait: while anyone does, it is refused
        (`ALLOWANCE_EXHAUSTED`), and `wait` is the way to queue.

        `POST /v1/spaces/{spaceId}/allowances/{allowanceId}/consume`

        Args:
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            units: the number of units
            holder: its holder: a name that the caller chose; without control characters
            work_key: the caller's name for this work, unique where it is used: a repetition is
                recognized by it; without control characters

        Raises:
            MusterError: UNITS_EXCEED_LIMIT, MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED,
                IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED, PERMISSION_DENIED, ALLOWANCE_NOT_FOUND,
                SPACE_NOT_FOUND, WORK_KEY_CONFLICT, SCOPE_CANCELLED, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED,
                ALLOWANCE_COOLING_DOWN, ALLOWANCE_EXHAUSTED, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_CONSUME, {'allowanceId': allowance_id, 'scopeId': scope_id, 'units': units, 'holder': holder, 'workKey': work_key}, idempotency_key, attempts)

    async def cooldown(
        self,
        *,
        allowance_id: Id,
        seconds: int,
        reason: str | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Cooldown:
        """Block consumption and grants for a time

        Never shortens a cooldown that runs. For a provider that answers "too many requests":
        nobody gets units until the cooldown is over, and the queue stays as it is.

        `POST /v1/spaces/{spaceId}/allowances/{allowanceId}/cooldown`

        Args:
            seconds: the length of the cooldown
            reason: the reason for the cooldown, for those who wait; without control characters

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, ALLOWANCE_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_COOLDOWN, {'allowanceId': allowance_id, 'seconds': seconds, 'reason': reason}, idempotency_key, attempts)

    async def wait(
        self,
        *,
        allowance_id: Id,
        scope_id: Id,
        units: int,
        holder: str,
        ttl_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Waiter:
        """Take units at once (GRANTED), or queue for them, first in, first out (WAITING)

        Follow the waiter with `waitSeconds` on its view. It is granted when it is at the head and
        its units fit: when a window begins, a cooldown ends or the one before it leaves. After
        `ttlSeconds` it is EXPIRED, unless it is renewed: with a short one, no units are granted
        to a process that has died.

        `POST /v1/spaces/{spaceId}/allowances/{allowanceId}/wait`

        Args:
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            units: the number of units
            holder: its holder: a name that the caller chose; without control characters
            ttl_seconds: how long it waits at most

        Raises:
            MusterError: UNITS_EXCEED_LIMIT, MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED,
                IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED, PERMISSION_DENIED, ALLOWANCE_NOT_FOUND,
                SPACE_NOT_FOUND, SCOPE_CANCELLED, WAITERS_FULL, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.ALLOWANCE_WAIT, {'allowanceId': allowance_id, 'scopeId': scope_id, 'units': units, 'holder': holder, 'ttlSeconds': ttl_seconds}, idempotency_key, attempts)


class WaiterAsyncCalls(AsyncCalls):
    """The calls `waiter.…`."""

    async def view(
        self,
        *,
        waiter_id: Id,
        wait_seconds: int = ABSENT,
        attempts: int = ABSENT,
    ) -> Waiter:
        """A waiter, with its position while it waits

        With `waitSeconds` it answers once the waiter is GRANTED, EXPIRED or CANCELLED, or as it
        then stands.

        `GET /v1/spaces/{spaceId}/allowance-waiters/{waiterId}`

        Args:
            wait_seconds: how long the request may be held until the record has ended; then it is
                answered as it stands

        Raises:
            MusterError: PERMISSION_DENIED, WAITER_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.WAITER_VIEW, {'waiterId': waiter_id, 'waitSeconds': wait_seconds}, ABSENT, attempts)

    async def renew(
        self,
        *,
        waiter_id: Id,
        ttl_seconds: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Waiter:
        """Wait longer, counted from now, and keep the place in line

        May shorten the wait. Renew about every third of `ttlSeconds`: then a waiter whose process
        has died soon expires, and the one behind it moves up. One that is no longer WAITING is
        refused (`WAITER_NOT_WAITING`). A renewal is no operation and emits no event.

        `POST /v1/spaces/{spaceId}/allowance-waiters/{waiterId}/renew`

        Args:
            ttl_seconds: how long it waits from now on; left out: as long as when it was queued

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                WAITER_NOT_FOUND, SPACE_NOT_FOUND, WAITER_NOT_WAITING, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.WAITER_RENEW, {'waiterId': waiter_id, 'ttlSeconds': ttl_seconds}, idempotency_key, attempts)

    async def cancel(
        self,
        *,
        waiter_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Waiter:
        """Leave the queue

        Again is fine. The one behind it moves up. One that was granted or has expired is refused
        (`WAITER_NOT_WAITING`).

        `POST /v1/spaces/{spaceId}/allowance-waiters/{waiterId}/cancel`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, PERMISSION_DENIED,
                WAITER_NOT_FOUND, SPACE_NOT_FOUND, WAITER_NOT_WAITING, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED
        """
        return await self._send(calls.WAITER_CANCEL, {'waiterId': waiter_id}, idempotency_key, attempts)


class ScheduleAsyncCalls(AsyncCalls):
    """The calls `schedule.…`."""

    async def create(
        self,
        *,
        name: str,
        mailbox_id: Id,
        scope_id: Id,
        payload: Any,
        cron: str | None = ABSENT,
        every_seconds: int | None = ABSENT,
        timezone: str | None = ABSENT,
        max_attempts: int | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Schedule:
        """Create a schedule

        It sends a message at each moment of a cron expression, or every so many seconds. Either
        `cron`, read on the clock of `timezone`, or `everySeconds`. Each moment sends one message,
        whatever dies; if several have passed while no worker ran, only the last is sent, and
        `missed` counts the others.

        `POST /v1/spaces/{spaceId}/schedules`

        Args:
            name: for people, and to find it by; without control characters
            mailbox_id: the id of the mailbox
            scope_id: its run: that of the message being worked on, or a new uuid for a run of its
                own
            payload: the payload of each message; any JSON value; comes back as it was sent
            cron: the cron expression of its moments; null: it goes by everySeconds; five fields,
                or six with seconds first, without H
            every_seconds: the seconds between messages, from its creation; null: it goes by cron
            timezone: the IANA time zone of cron
            max_attempts: the most attempts before a message is FAILED

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND, MAILBOX_NOT_FOUND,
                SCHEDULE_EXISTS, SCOPE_CANCELLED, SCHEDULES_FULL, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_CREATE, {'name': name, 'mailboxId': mailbox_id, 'scopeId': scope_id, 'payload': payload, 'cron': cron, 'everySeconds': every_seconds, 'timezone': timezone, 'maxAttempts': max_attempts}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        attempts: int = ABSENT,
    ) -> ScheduleList:
        """List schedules

        Newest first. Those that are paused or ended, too. Go on with `nextCursor` until it is
        null.

        `GET /v1/spaces/{spaceId}/schedules`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_LIST, {'limit': limit, 'cursor': cursor}, ABSENT, attempts)

    def all(
        self,
    ) -> AsyncIterator[Schedule]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.SCHEDULE_LIST, 'schedules', {})

    async def view(
        self,
        *,
        schedule_id: Id,
        attempts: int = ABSENT,
    ) -> Schedule:
        """A schedule

        When it comes next, and what it sent last. `nextAt` is null while it is paused, and once
        it has ended with its run.

        `GET /v1/spaces/{spaceId}/schedules/{scheduleId}`

        Raises:
            MusterError: PERMISSION_DENIED, SCHEDULE_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_VIEW, {'scheduleId': schedule_id}, ABSENT, attempts)

    async def update(
        self,
        *,
        schedule_id: Id,
        name: str | None = ABSENT,
        mailbox_id: Id | None = ABSENT,
        scope_id: Id | None = ABSENT,
        payload: Any = ABSENT,
        cron: str | None = ABSENT,
        every_seconds: int | None = ABSENT,
        timezone: str | None = ABSENT,
        max_attempts: int | None = ABSENT,
        state: Literal['ACTIVE', 'PAUSED'] | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Schedule:
        """Change a schedule, pause or resume it

        Cron replaces everySeconds and the other way round, and what a pause skips is not missed.
        Fields that are left out stay as they are. Moments that have come are sent before the
        change. One that ended with its run stays so (`SCHEDULE_ENDED`).

        `PATCH /v1/spaces/{spaceId}/schedules/{scheduleId}`

        Args:
            name: for people, and to find it by; without control characters
            mailbox_id: the id of the mailbox
            scope_id: the run of its messages from now on
            payload: the payload of each message from now on; any JSON value; comes back as it was
                sent
            cron: the cron expression of its moments; null: it goes by everySeconds; five fields,
                or six with seconds first, without H
            every_seconds: the seconds between messages, from its creation; null: it goes by cron
            timezone: the IANA time zone of cron
            max_attempts: the most attempts before a message is FAILED
            state: its present state

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, SCHEDULE_NOT_FOUND, SPACE_NOT_FOUND, SCHEDULE_ENDED,
                MAILBOX_NOT_FOUND, SCHEDULE_EXISTS, SCOPE_CANCELLED, ACTIVE_RUNS_LIMITED,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_UPDATE, {'scheduleId': schedule_id, 'name': name, 'mailboxId': mailbox_id, 'scopeId': scope_id, 'payload': payload, 'cron': cron, 'everySeconds': every_seconds, 'timezone': timezone, 'maxAttempts': max_attempts, 'state': state}, idempotency_key, attempts)

    async def delete(
        self,
        *,
        schedule_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> None:
        """Delete a schedule

        What it has sent stays. No further message is sent. Its name is free again.

        `DELETE /v1/spaces/{spaceId}/schedules/{scheduleId}`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, SCHEDULE_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_DELETE, {'scheduleId': schedule_id}, idempotency_key, attempts)

    async def trigger(
        self,
        *,
        schedule_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Schedule:
        """Send a schedule's message now, paused or not

        Its moments stay as they are. The message has no workKey: each trigger sends another one.
        A refusal, such as a full backlog, is answered to the caller.

        `POST /v1/spaces/{spaceId}/schedules/{scheduleId}/trigger`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, SCHEDULE_NOT_FOUND, SPACE_NOT_FOUND, SCHEDULE_ENDED,
                MAILBOX_NOT_FOUND, BACKLOG_FULL, ACTIVE_TASKS_LIMITED, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.SCHEDULE_TRIGGER, {'scheduleId': schedule_id}, idempotency_key, attempts)


class DestinationAsyncCalls(AsyncCalls):
    """The calls `destination.…`."""

    async def create(
        self,
        *,
        url: str,
        event_types: Sequence[str] | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> NewDestination:
        """Register a webhook destination

        Its signing secret is shown here only. It hears what happens from now on, as [Standard
        Webhooks](https://www.standardwebhooks.com): at least once, in no promised order.
        Addresses that are not public are refused, unless the service allows them.

        `POST /v1/spaces/{spaceId}/destinations`

        Args:
            url: the address that events are posted to; without control characters
            event_types: the event types that it gets, `message.*` for all of a kind; empty: all

        Raises:
            MusterError: DESTINATION_URL_FORBIDDEN, MALFORMED_JSON, IDEMPOTENCY_KEY_REQUIRED,
                IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED, PERMISSION_DENIED, SPACE_NOT_FOUND,
                DESTINATIONS_FULL, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED,
                RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_CREATE, {'url': url, 'eventTypes': event_types}, idempotency_key, attempts)

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        attempts: int = ABSENT,
    ) -> DestinationList:
        """List webhook destinations

        Newest first. Without signing secrets: only creation and rotation show one.

        `GET /v1/spaces/{spaceId}/destinations`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_LIST, {'limit': limit, 'cursor': cursor}, ABSENT, attempts)

    def all(
        self,
    ) -> AsyncIterator[Destination]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.DESTINATION_LIST, 'destinations', {})

    async def view(
        self,
        *,
        destination_id: Id,
        attempts: int = ABSENT,
    ) -> Destination:
        """A webhook destination

        Its state, why it was disabled, and how often it has failed in a row.

        `GET /v1/spaces/{spaceId}/destinations/{destinationId}`

        Raises:
            MusterError: PERMISSION_DENIED, DESTINATION_NOT_FOUND, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_VIEW, {'destinationId': destination_id}, ABSENT, attempts)

    async def update(
        self,
        *,
        destination_id: Id,
        url: str | None = ABSENT,
        event_types: Sequence[str] | None = ABSENT,
        state: Literal['ACTIVE', 'DISABLED'] | None = ABSENT,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Destination:
        """Change url, eventTypes or state

        Once enabled again, it gets events from then on. DISABLED, it hears nothing, and what it
        was still to get is given up. Fields that are left out stay as they are.

        `PATCH /v1/spaces/{spaceId}/destinations/{destinationId}`

        Args:
            url: the address that events are posted to; without control characters
            event_types: the event types that it gets, `message.*` for all of a kind; empty: all
            state: its present state

        Raises:
            MusterError: DESTINATION_URL_FORBIDDEN, MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID,
                OPERATIONS_EXHAUSTED, PERMISSION_DENIED, DESTINATION_NOT_FOUND, SPACE_NOT_FOUND,
                PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_UPDATE, {'destinationId': destination_id, 'url': url, 'eventTypes': event_types, 'state': state}, idempotency_key, attempts)

    async def delete(
        self,
        *,
        destination_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> None:
        """Delete a webhook destination

        Its pending deliveries are dropped. The rows of its attempts stay readable for their time.

        `DELETE /v1/spaces/{spaceId}/destinations/{destinationId}`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, DESTINATION_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_DELETE, {'destinationId': destination_id}, idempotency_key, attempts)

    async def rotate_secret(
        self,
        *,
        destination_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> NewDestination:
        """Give it a new signing secret, shown here only

        For 24 hours the previous one signs too. Deploy the new secret within these 24 hours:
        until then each delivery has a signature by either.

        `POST /v1/spaces/{spaceId}/destinations/{destinationId}/rotate-secret`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, DESTINATION_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_ROTATE_SECRET, {'destinationId': destination_id}, idempotency_key, attempts)

    async def test(
        self,
        *,
        destination_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Delivery:
        """Send it a destination.test message now, once

        Answers the attempt. It is no event of the journal, and is not repeated if it fails.

        `POST /v1/spaces/{spaceId}/destinations/{destinationId}/test`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, DESTINATION_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.DESTINATION_TEST, {'destinationId': destination_id}, idempotency_key, attempts)


class DeliveryAsyncCalls(AsyncCalls):
    """The calls `delivery.…`."""

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        destination_id: Id = ABSENT,
        attempts: int = ABSENT,
    ) -> DeliveryList:
        """Attempts to deliver

        Newest first; all or those of one destination. One row for each attempt, with its status,
        duration and error. Bodies of answers are not kept.

        `GET /v1/spaces/{spaceId}/deliveries`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page
            destination_id: only those of this destination

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, RATE_LIMITED
        """
        return await self._send(calls.DELIVERY_LIST, {'limit': limit, 'cursor': cursor, 'destinationId': destination_id}, ABSENT, attempts)

    def all(
        self,
        *,
        destination_id: Id = ABSENT,
    ) -> AsyncIterator[Delivery]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.DELIVERY_LIST, 'deliveries', {'destinationId': destination_id})

    async def redeliver(
        self,
        *,
        delivery_id: Id,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
    ) -> Delivery:
        """Send the event of an attempt again now, once

        Answers the new attempt. With the same `webhook-id`, so that a receiver which has seen it
        can drop it.

        `POST /v1/spaces/{spaceId}/deliveries/{deliveryId}/redeliver`

        Raises:
            MusterError: MALFORMED_JSON, IDEMPOTENCY_KEY_INVALID, OPERATIONS_EXHAUSTED,
                PERMISSION_DENIED, DELIVERY_NOT_FOUND, SPACE_NOT_FOUND, PAYLOAD_TOO_LARGE,
                UNSUPPORTED_MEDIA_TYPE, IDEMPOTENCY_KEY_REUSED, RATE_LIMITED
        """
        return await self._send(calls.DELIVERY_REDELIVER, {'deliveryId': delivery_id}, idempotency_key, attempts)


class EventAsyncCalls(AsyncCalls):
    """The calls `event.…`."""

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        since: Moment | None = ABSENT,
        attempts: int = ABSENT,
    ) -> EventList:
        """The journal

        Oldest first; cursor=latest for from now on. Everything that happened in the space, in
        order, at least 30 days back. `nextCursor` is never null: keep it, and go on with it
        whenever you like.

        `GET /v1/spaces/{spaceId}/events`

        Args:
            limit: the most events of an answer
            cursor: the nextCursor of an earlier answer; left out: the oldest event; `latest`:
                from now on
            since: where to begin without a cursor: at this moment; if it is over an hour ago, up
                to 1,000 earlier events may come first

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, CURSOR_EXPIRED,
                RATE_LIMITED, EVENTS_DAMAGED
        """
        return await self._send(calls.EVENT_LIST, {'limit': limit, 'cursor': cursor, 'since': since}, ABSENT, attempts)

    def all(
        self,
        *,
        since: Moment | None = ABSENT,
    ) -> AsyncIterator[Event]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.EVENT_LIST, 'events', {'since': since})

    async def watch(
        self,
        *,
        types: str = ABSENT,
        aggregate: str = ABSENT,
        scope_id: Id = ABSENT,
        limit: int = ABSENT,
        wait_seconds: int = ABSENT,
        cursor: str = ABSENT,
        since: Moment | None = ABSENT,
        attempts: int = ABSENT,
    ) -> EventWatch:
        """The journal, filtered

        Holds the request until there is something. With Accept: text/event-stream the same as
        server-sent events, each with its cursor as id (Last-Event-ID goes on after it), until the
        connection ends: limit and waitSeconds are for pages. Filters by `types`, `aggregate` and
        `scopeId` narrow it; `nextCursor` moves past what they leave out. Delivery is at least
        once and in order: drop an `eventId` that you have seen.

        `GET /v1/spaces/{spaceId}/watch`

        Args:
            types: only these types, comma-separated; `message.*`: all of a kind
            aggregate: only events of these kinds, comma-separated, or of one object:
                `message:<id>`
            scope_id: only events of this scope and of those below it
            limit: the most events of an answer
            wait_seconds: how long the request may be held until there is an event
            cursor: the nextCursor of an earlier answer; left out: the oldest event; `latest`:
                from now on
            since: where to begin without a cursor: at this moment; if it is over an hour ago, up
                to 1,000 earlier events may come first

        Raises:
            MusterError: INVALID_CURSOR, PERMISSION_DENIED, SPACE_NOT_FOUND, CURSOR_EXPIRED,
                RATE_LIMITED, EVENTS_DAMAGED
        """
        return await self._send(calls.EVENT_WATCH, {'types': types, 'aggregate': aggregate, 'scopeId': scope_id, 'limit': limit, 'waitSeconds': wait_seconds, 'cursor': cursor, 'since': since}, ABSENT, attempts)


class SpaceAsyncCalls(AsyncCalls):
    """The calls `space.…`."""

    async def list(
        self,
        *,
        limit: int = ABSENT,
        cursor: str = ABSENT,
        attempts: int = ABSENT,
    ) -> SpaceList:
        """The spaces that the API key can see

        Newest first. Needs no permission, and is counted in the organization's rate. A key that
        is limited to some spaces sees those.

        `GET /v1/spaces`

        Args:
            limit: the most records in the page
            cursor: the nextCursor of the page before; left out or empty: the first page

        Raises:
            MusterError: INVALID_CURSOR
        """
        return await self._send(calls.SPACE_LIST, {'limit': limit, 'cursor': cursor}, ABSENT, attempts)

    def all(
        self,
    ) -> AsyncIterator[VisibleSpace]:
        """All of `list`, page by page, as they are read."""
        return self._all(calls.SPACE_LIST, 'spaces', {})


class AllAsyncCalls:
    """Every call of the API, by primitive."""

    def __init__(self, sender: AsyncSender) -> None:
        self.limits = LimitsAsyncCalls(sender)
        self.census = CensusAsyncCalls(sender)
        self.backlog = BacklogAsyncCalls(sender)
        self.waits = WaitsAsyncCalls(sender)
        self.usage = UsageAsyncCalls(sender)
        self.scope = ScopeAsyncCalls(sender)
        self.run = RunAsyncCalls(sender)
        self.mailbox = MailboxAsyncCalls(sender)
        self.message = MessageAsyncCalls(sender)
        self.group = GroupAsyncCalls(sender)
        self.task = TaskAsyncCalls(sender)
        self.budget = BudgetAsyncCalls(sender)
        self.barrier = BarrierAsyncCalls(sender)
        self.allowance = AllowanceAsyncCalls(sender)
        self.waiter = WaiterAsyncCalls(sender)
        self.schedule = ScheduleAsyncCalls(sender)
        self.destination = DestinationAsyncCalls(sender)
        self.delivery = DeliveryAsyncCalls(sender)
        self.event = EventAsyncCalls(sender)
        self.space = SpaceAsyncCalls(sender)
