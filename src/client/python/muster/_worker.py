"""Workers with threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Literal, NoReturn, TypeVar

from . import _signals
from ._arguments import Amount, Id
from ._client import Muster
from ._core import Core, wait_for
from ._held import Held
from ._model_call import ModelCall
from ._records import Claim, Waiter
from ._run import Run, keep
from ._spend import Spend, spend
from ._spending import Reservation
from ._task import PrerequisiteResult, TaskBase

T = TypeVar('T')

Handler = Callable[[Claim, 'Task'], Any]
"""Does the work of a message and returns its result; raises RetryLater, GiveUp, or anything for another attempt"""


class Task(TaskBase):
    """The services for a handler."""

    def wait(self, seconds: float) -> None:
        """Sleeps; raises `ClaimLost` or `WorkerClosed` the moment the claim is over."""
        self._held.stop.wait(seconds)
        self.raise_if_lost()

    def reserve(self, budget: Id, amount_minor: Amount) -> Reservation:
        """Sets money aside from a budget, given by name or id: `with task.reserve('llm', 500) as reservation: reservation.settle(320)`.

        What the handler does not settle is spent as a whole when it returns, and given back when it raises. An
        attempt after a crash finds the reservation again.
        """
        return self._reserve(budget, amount_minor)

    def units(self, allowance: Id, units: int = 1) -> Waiter:
        """Takes units of an allowance, given by name or id; waits in line until they are granted."""
        return self._units(allowance, units)

    def spend(self, asked: Spend, work: Callable[[ModelCall], T]) -> T:
        """As `Muster.spend`, for this message: an attempt after a crash goes on with what was reserved."""
        return spend(self._spending(asked), work)

    @property
    def run(self) -> Run:
        """The message's run: `task.run.note(key)` are values that its agents share; they are put only while the claim lasts."""
        return self._run

    def once(self, key: str, step: Callable[[], T]) -> T:
        """Does a step once, whatever becomes of this attempt: `page = task.once('fetch', lambda: fetch(url))`.

        Its JSON value is kept with the run, under a key of the message's own, and later attempts get it without doing
        the step again. Kept only while the claim lasts (else ClaimLost), until the message is completed. What the step
        does outside may still happen twice if the process dies in the midst of it.
        """
        note = self._kept(key)
        # If threads of a handler ask for a step at the same time, the second finds the stored value of the first.
        with self._held.step_locks.setdefault(key, threading.RLock()):
            found = note.view()
            value: T = keep(note, step()) if found is None else found.value
            return value

    def ask(
        self,
        question: Any,
        *,
        options: Sequence[str] | None = None,
        expires_in_seconds: int | None = None,
        on_expiry: Literal['RETURN', 'FAIL'] | None = None,
    ) -> NoReturn:
        """Asks a person, or another program, and ends this attempt, which does not count.

        Nobody holds the message until somebody has answered. The next attempt begins with `answer`:
        `answer = task.answer or task.ask('Publish?', options=['yes', 'no'])`

        Args:
            question: any JSON of at most 4,096 bytes
            options: the answers to choose from; default: any answer
            expires_in_seconds: for how long it can be answered; default: a week
            on_expiry: what becomes of the message then: `RETURN`, the next attempt, or `FAIL`
        """
        self._ask(question, options, expires_in_seconds, on_expiry)

    def results(self) -> list[PrerequisiteResult]:
        """Fetches what the messages and groups that the message is after (`message.after`) have left, in their order."""
        return self._results()


class Worker(Core[Muster, Handler]):
    """Works on the messages of a mailbox, each in a thread: `Worker(muster, 'jobs', handle, concurrency=10).run()`.

    Receives them, keeps their claims, completes them with what the handler returns and gives them back when it
    raises. Handlers that go on for long look at `task.is_lost`, or call `task.raise_if_lost()`, now and then.

    Args:
        mailbox: its name, made if there is none; its fields, to make it so; or `{'mailbox_id': …}`
        scope_id: receives from this scope and what is below it; `*`: from all runs in turn
        concurrency: how many messages are worked on at once
        holder: who works, for people; default: the machine's name and the process's number
        lease_seconds: a claim is renewed at a third of it
        results_to: publishes what the handler returns into this mailbox, in the same step, in the message's scope
        wait_seconds: how long a receive is held at the server
        batch: receives many at a time and ends many at a time
        close_seconds: how long work may go on after `close`; what is not done then is given back
        close_on_signals: where a worker's `run` is in the main thread, SIGTERM and SIGINT close this one, too,
            once it has started; a second signal at once
    """

    _is_started = False

    def start(self) -> Worker:
        """Starts it; `close` ends it."""
        if not self._is_started:
            self._is_started = True
            self._start()
        return self

    def run(self) -> None:
        """Works until it is closed, by `close` or a signal. Raises what it cannot go on without.

        A signal closes all workers of the process; then this returns when all of them have ended.
        """
        hears = self._close_on_signals and threading.current_thread() is threading.main_thread()
        with _signals.in_main_thread() if hears else nullcontext():
            self.start()
            wait_for(self.ended)
            for other in _signals.closing():
                wait_for(other.ended)
        if self._failure is not None:
            raise self._failure

    def close(self, seconds: float | None = None) -> None:
        """Stops: receives nothing more, and lets the work go on for so many seconds.

        What is not done then is given back, and its handler told.
        """
        if self._is_started:
            self._close_soon(self._close_seconds if seconds is None else seconds)
            wait_for(self.ended)

    def drained(self) -> None:
        """Waits until nothing is left to do in the mailbox, for whichever worker: nothing READY, DELAYED or CLAIMED."""
        while not self.ended.is_set():
            if self._mailbox_id is None:
                self.ended.wait(0.05)
                continue
            counts = self.muster.mailbox.view(mailbox_id=self._mailbox_id, wait_seconds=20).counts
            if counts.ready + counts.delayed + counts.claimed == 0:
                return
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> Worker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, held: Held) -> None:
        name = f'muster-{held.message.id}'
        threading.Thread(target=self._work, args=(held,), name=name, daemon=True).start()

    def _work(self, held: Held) -> None:
        try:
            with held.attempt.active():
                result = self._handler(held.message, Task(held, self))
        except BaseException as error:
            self._finish(held, error, None)
        else:
            self._finish(held, None, result)

    def _interrupt(self, held: Held) -> None:
        """Handlers see it by `task.is_lost`, and what they wait for by `task` ends."""
