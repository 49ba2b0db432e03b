"""Workers with threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from .._arguments import After, Amount, Id, Moment
from .._calls import MAILBOX_VIEW
from .._client import Muster
from .._errors import Stopped, WorkerClosed
from .._model_call import ModelCall
from .._pool import Holding
from .._records import Claim, MessageSuspendNote, SendFields, SentMessage, Waiter
from .._run import Run
from .._spend import Spend, spend
from .._waits import until_over
from . import signals
from .context import TaskContext
from .options import MailboxChoice
from .results import PrerequisiteResult
from .spending import OnOverdue, Reservation
from .suspending import JoinedSend, Suspending, conditions_of
from .task import ClaimedTask
from .worker import WorkerBase, is_drained, wait_for

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar('T')

Handler = Callable[[Claim, 'Task'], Any]
"""A function that works on a message and returns its result. It may raise RetryLater or GiveUp; any other exception
leads to another attempt."""


class Task(TaskContext):
    """The context of a handler: operations on the message that it works on."""

    def wait(self, seconds: float) -> None:
        """Sleeps for this many seconds. Raises `ClaimLost` or `WorkerClosed` as soon as the claim has ended."""
        self._task.stop.wait(seconds)
        self.raise_if_lost()

    def reserve(
        self,
        budget: Id,
        amount_minor: Amount,
        *,
        settle_by: Moment | None = None,
        on_overdue: OnOverdue | None = None,
    ) -> Reservation:
        """Sets money aside for the work: `with task.reserve('llm', 500) as reservation: reservation.settle(320)`.

        `settle` records the cost. Without it, the whole amount is spent when the block or the handler ends, and given
        back when it raises. An attempt after a crash finds the reservation again, and lists the reservations of
        previous attempts in `earlier`.

        Args:
            budget: the budget, by name or id
            amount_minor: the most that the work may cost, in minor units
            settle_by: when the reservation becomes overdue if it is still open
            on_overdue: what happens to it then: KEEP (default) leaves it set aside for the next attempt, SETTLE settles
                it, as a dead attempt may have spent it

        Raises:
            MusterError: INSUFFICIENT_BUDGET if the budget has too little left
            LookupError: there is no budget with this name
        """
        return self._reserve(budget, amount_minor, settle_by, on_overdue)

    @property
    def muster(self) -> Muster:
        """The worker's client, so that a handler needs no global one."""
        return self._task.muster

    def send(
        self, mailbox: MailboxChoice, payload: Any, *, scope_id: Id | None = None, **fields: Unpack[SendFields]
    ) -> SentMessage:
        """Sends a message in this message's run: `task.send('chapters', {'text': text}, work_key=message.id)`.

        It continues the trace of this message, and waits out an outage while the claim lasts. Another attempt sends
        again, unless it has the same `work_key`.

        Args:
            mailbox: its name, created if it does not exist; its fields, to create it with these; or `{'mailbox_id': …}`
            payload: any JSON value
            scope_id: the run; default: this message's
            fields: as those of `muster.message.send`
        """
        return self._send(mailbox, payload, scope_id, fields)

    def hold(
        self,
        pool: Id,
        units: int = 1,
        *,
        holder_session: str | None = None,
        lease_seconds: int = 30,
        ttl_seconds: float = 300,
    ) -> AbstractContextManager[Holding]:
        """Like `muster.pool(pool).hold`, for this message: `with task.hold('deploys') as hold: write(hold.fence)`.

        The hold belongs to its run, and the wait ends with the claim. Waiting messages of one worker don't wait for one
        another.

        Args:
            pool: the pool, by name or id
            units: the units to hold, all or none
            holder_session: by which deadlocks among waiting holders are found; default: one for the message
            lease_seconds: the length of the lease
            ttl_seconds: how long to wait for the units, math.inf included; 0 for not at all
        """
        message = self.message
        return self._held(
            self.muster.pool(pool).hold(
                units,
                scope_id=message.scope_id,
                holder=self._task.holder,
                # Those of a worker that wait would otherwise seem to wait for themselves.
                holder_session=holder_session or message.id,
                lease_seconds=lease_seconds,
                ttl_seconds=ttl_seconds,
                stop=self._task.stop,
            )
        )

    def units(self, allowance: Id, units: int = 1) -> Waiter:
        """Takes units of an allowance, given by name or id. Waits in line until they are granted."""
        return self._units(allowance, units)

    def spend(self, asked: Spend, work: Callable[[ModelCall], T]) -> T:
        """Like `Muster.spend`, for this message. `call.earlier` finds the reservations of its earlier attempts."""
        return spend(self._spending(asked), work)

    @property
    def run(self) -> Run:
        """The message's run. `task.run.note(key)` is a value that its agents share; it can be put only while the claim
        lasts."""
        return self._task.run

    def once(self, key: str, step: Callable[[], T]) -> T:
        """Does a step once for all attempts: `page = task.once('fetch', lambda: fetch(url))`.

        The step's JSON value is stored with the run, under a key of this message, and later attempts get it without
        repeating the step. It is kept until the message is completed. External effects of the step may still happen
        twice if the process dies during it.

        Args:
            key: the step's name, unique among the message's steps
            step: does the step and returns its value

        Raises:
            ClaimLost: the claim ended before the value was stored
        """
        self.raise_if_lost()
        value: T = self._task.memos.once(key, step)
        return value

    def ask(
        self,
        question: Any,
        *,
        options: Sequence[str] | None = None,
        expires_in_seconds: int | None = None,
        on_expiry: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> NoReturn:
        """Asks a person or another program, and ends this attempt without counting it.

        Nobody holds the message until there is an answer. The next attempt begins with `answer`:
        `answer = task.answer or task.ask('Publish?', options=['yes', 'no'])`

        Args:
            question: any JSON value of at most 4,096 bytes
            options: the answers to choose from; default: any answer
            expires_in_seconds: how long the question can be answered; default: a week
            on_expiry: without an answer by then, `RETURN` begins the next attempt, and `FAIL` fails the message
            yields_key: whether other messages of its key go on meanwhile; by default they wait for the answer, too

        Raises:
            Asked: always; don't catch it
        """
        self._ask(question, options, expires_in_seconds, on_expiry, yields_key)

    def suspend(
        self,
        *,
        after: Sequence[After] | None = None,
        note: MessageSuspendNote | None = None,
        delay_seconds: int | None = None,
        any: bool | None = None,
        timeout_seconds: int | None = None,
        on_timeout: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> NoReturn:
        """Ends this attempt without counting it, until something has happened.

        Nobody holds the message until the messages, groups and runs in `after` have ended, a `note` has changed or
        `delay_seconds` have passed; all of that, or with `any` one thing. The next attempt starts the handler anew,
        with `message.suspension`; `once` keeps its values.

        Args:
            after: at most 50 messages, groups (`{'groupId': …}`) and runs (`{'scopeId': …}`) that must end, however
                they do
            note: the note that must change: `{'key': …, 'sinceVersion': …}`
            delay_seconds: how long to sleep
            any: whether one of them is enough
            timeout_seconds: how long to wait at most; default: 30 days
            on_timeout: what happens then: `RETURN` begins the next attempt, and `FAIL` fails the message
            yields_key: whether other messages of its key go on meanwhile; by default they wait, too

        Raises:
            Suspended: always; don't catch it
        """
        self._suspend(
            Suspending(
                conditions_of(
                    after=after,
                    note=note,
                    delay_seconds=delay_seconds,
                    any=any,
                    timeout_seconds=timeout_seconds,
                    on_timeout=on_timeout,
                    yields_key=yields_key,
                )
            )
        )

    def sleep(self, name: str, seconds: float) -> None:
        """Sleeps without a worker, once for this name: `task.sleep('cool down', 3600)`.

        The attempt ends, and the next one starts the handler anew when the time has passed, or later. Then it returns
        at once.

        Raises:
            Suspended: the time has not passed; don't catch it
        """
        suspending = self._slept(name, seconds)
        if suspending is not None:
            self._suspend(suspending)

    def join(
        self,
        name: str,
        sends: Sequence[JoinedSend],
        *,
        timeout_seconds: int | None = None,
        on_timeout: Literal['RETURN', 'FAIL'] | None = None,
        yields_key: bool | None = None,
    ) -> list[Any]:
        """Sends messages, at most 50, and waits until all have ended. Returns their results, in order.

        `pages = task.join('pages', [{'mailbox': 'pages', 'payload': url} for url in urls])`

        Nobody holds this message meanwhile: the attempt ends, in one atomic step with the sends (of more than 23 messages,
        with the last 23), and the next one starts the handler anew. Then it returns. Each name is a join of its own, and sends its messages once, whatever fails.

        Args:
            name: the join's name, unique among the message's joins
            sends: the messages; their fields are those of `task.send`, without `work_key`
            timeout_seconds: how long to wait at most; default: 30 days
            on_timeout: what happens then: `RETURN` begins the next attempt, and `FAIL` fails the message
            yields_key: whether other messages of its key go on meanwhile; by default they wait, too

        Raises:
            Suspended: they have not all ended; don't catch it
            JoinFailed: a message did not come out ACKED, or `timeout_seconds` have passed
        """
        options = conditions_of(timeout_seconds=timeout_seconds, on_timeout=on_timeout, yields_key=yields_key)
        found = self._joined(name, sends, options)
        return self._suspend(found) if isinstance(found, Suspending) else found

    def results(self) -> list[PrerequisiteResult]:
        """Fetches the results of the message's prerequisites (`message.after`), in order."""
        return self._results()


class Worker(WorkerBase[Muster, Handler]):
    """Works on the messages of a mailbox, each in a thread: `Worker(muster, 'jobs', handle, concurrency=10).run()`.

    Receives messages, keeps their claims, completes them with the handler's result, and gives them back when the
    handler raises. A long-running handler should check `task.is_lost` or call `task.raise_if_lost()` now and then.

    Args:
        muster: the client
        mailbox: its name, created if it does not exist; its fields, to create it with these; or `{'mailbox_id': …}`
        handler: works on each message
        scope_id: receives from this scope and those below it; `*` for all runs in turn
        concurrency: how many messages are worked on at once
        rate: begins at most `limit` messages in any `window_seconds`: `{'limit': 10, 'window_seconds': 60}`; it claims
            none that it may not begin yet. What all workers share is a quota, with `requires`
        holder: the worker's name, for people; default: the names of machine and process; for an INBOX, its recipient_id
        lease_seconds: the length of the lease, which is renewed at a third of it
        results_to: publishes the handler's result into this mailbox, in the same step and in the message's scope
        wait_seconds: how long a receive is held at the server
        batch: receives and ends many messages at a time
        close_seconds: how long work may continue after `close`; unfinished messages are then given back
        close_on_signals: closes the worker at SIGTERM and SIGINT, and ends it at once at a second signal; this needs
            some worker's `run` in the main thread
        logger: default: the logger `muster.worker`
    """

    _is_started = False

    def start(self) -> Worker:
        """Starts the worker, and returns it at once. `close` stops it."""
        if not self._is_started:
            self._is_started = True
            self._start()
        return self

    def run(self) -> None:
        """Works until the worker is closed, by `close` or by a signal.

        A signal closes all workers of the process. This call then returns when all of them have ended.

        Raises:
            MusterError: the worker could not continue, for example because its key or its mailbox was refused
        """
        hears = self._close_on_signals and threading.current_thread() is threading.main_thread()
        with signals.in_main_thread() if hears else nullcontext():
            self.start()
            try:
                wait_for(self.ended)
                for other in signals.closing():
                    wait_for(other.ended)
            except BaseException:
                # Ctrl+C where signals don't close workers: what it holds is given back.
                self.close()
                raise
        if self._failure is not None:
            raise self._failure

    def close(self, seconds: float | None = None) -> None:
        """Stops: receives nothing more, and lets work continue for this many seconds (default: `close_seconds`).

        Then unfinished messages are given back, and their handlers see `task.is_lost`.
        """
        if self._is_started:
            self._close_soon(self._close_seconds if seconds is None else seconds)
            wait_for(self.ended)

    def drained(self) -> None:
        """Waits until no worker has anything left to do in the mailbox: nothing is READY, DELAYED or CLAIMED.

        Raises:
            WorkerClosed: the worker was closed first
            MusterError: the worker could not continue
        """
        while not self.ended.is_set():
            if self._mailbox_id is None:
                self.ended.wait(0.05)
                continue
            with suppress(Stopped):
                until_over(self.muster, MAILBOX_VIEW, {'mailboxId': self._mailbox_id}, is_drained, self.ended)
                return
        raise self._failure or WorkerClosed('the worker was closed first')

    def __enter__(self) -> Worker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, task: ClaimedTask) -> None:
        name = f'muster-{task.message.id}'
        threading.Thread(target=self._work, args=(task,), name=name, daemon=True).start()

    def _work(self, task: ClaimedTask) -> None:
        error: BaseException | None = None
        result: Any = None
        try:
            with task.attempt.active():
                result = self._handler(task.message, Task(task, self.logger))
        except BaseException as raised:
            error = raised
        self._finish(task, error, result)

    def _interrupt(self, task: ClaimedTask) -> None:
        """Does nothing: handlers check `task.is_lost`, and their waits have been ended."""
