"""Units of a pool that are held while work runs."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._arguments import Id, text
from ._base import Endpoint
from ._calls import HOLD_CANCEL, HOLD_RELEASE, HOLD_RENEW, HOLD_VIEW, POOL_ACQUIRE, POOL_LIST, PoolCalls
from ._errors import HoldLost, MusterError, Stopped
from ._forks import Own
from ._giving_back import give_back, given_back, take_for
from ._in_line import Place, place_until, wait_in_line
from ._records import AcquiredHold, Hold
from ._worker.signals import hold_end
from ._worker.spending import id_by_name
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

T = TypeVar('T')

_pause_seconds = 0.5
_give_up_seconds = 5
"""An attempt to leave may take this long at most. The place in line, or the lease, ends by itself"""
_min_release_seconds = 0.1
_max_release_seconds = 10
_session = str(uuid.uuid4())
"""The session of this process, by which deadlocks among waiting holders are found"""


class Pools(PoolCalls):
    """The calls of pools. Called with a name or an id, it returns that pool: `muster.pool('deploys').hold()`."""

    def __init__(self, muster: Muster) -> None:
        super().__init__(muster.send)
        self._muster = muster

    def __call__(self, pool: Id) -> Pool:
        return Pool(self._muster, pool)


class Pool:
    """A pool, given by its name or its id."""

    def __init__(self, muster: Muster, pool: Id) -> None:
        self._muster = muster
        self._pool = text(pool)

    def hold(
        self,
        units: int = 1,
        *,
        scope_id: Id | None = None,
        holder: str | None = None,
        holder_session: str | None = None,
        lease_seconds: int = 30,
        ttl_seconds: float = 300,
        stop: Stop | None = None,
    ) -> Holding:
        """Holds units of the pool while a block runs: `with muster.pool('deploys').hold() as hold: write(hold.fence)`.

        The block begins when the units are granted. Their lease is renewed while it runs, and they are always
        released at its end. If SIGTERM is to end the process, as it has its default action, it ends the block first, in
        the main thread by SystemExit.

        Args:
            units: the units to hold, all or none
            scope_id: the run that the hold belongs to; default: a run of its own
            holder: the holder's name; default: the names of machine and process
            holder_session: the holder's session, by which deadlocks among waiting holders are found; default: one for
                each thread
            lease_seconds: the length of the lease: how soon others get the units if this process dies
            ttl_seconds: how long to wait for the units, math.inf included; 0 for not at all
            stop: ends the wait, which then raises `Stopped` at once; units granted meanwhile are given back in the
                background

        Raises:
            MusterError: POOL_EXHAUSTED if the units were not free in time, DEADLOCK if the wait would never end
            LookupError: there is no pool with this name
            HoldLost: at the end of the block, if others may have had the units before
        """
        asked = {
            'units': units,
            'scopeId': text(scope_id or uuid.uuid4()),
            'holder': holder or f'{socket.gethostname()[:200]}/{os.getpid()}',
            # A forked process has the same thread.
            'holderSession': holder_session or f'{_session}/{os.getpid()}/{threading.get_ident()}',
            'leaseSeconds': lease_seconds,
        }
        if not ttl_seconds >= 0:
            raise ValueError(f'ttl_seconds is at least 0, not {ttl_seconds}')
        return Holding(self._muster, self._pool, asked, ttl_seconds, stop)


class Holding:
    """Units of a pool, held during a `with` block."""

    record: Hold | AcquiredHold
    """The hold as it was granted"""
    lost: Stop
    """Set when the hold is lost. Pass it as `stop` to `batch`, `events`, `units`, `judge`, `hold` or a note's `changed`, to
    end them then"""

    def __init__(
        self, muster: Muster, pool: str, asked: dict[str, Any], ttl_seconds: float, stop: Stop | None
    ) -> None:
        self.lost = Stop()
        self._muster = muster
        self._pool = pool
        self._asked = asked
        self._lease_seconds: float = asked['leaseSeconds']
        self._ttl_seconds = ttl_seconds
        self._stop = stop
        self._end = Stop()
        """The block has ended"""
        self._why: str | None = None
        self._ends_at = 0.0
        self._hold: dict[str, Any] = {}
        self._own = Own()

    @property
    def fence(self) -> int:
        """Greater than every earlier holder's fence.

        Pass it to the protected resource, which must refuse smaller ones.
        """
        return self.record.fence or 0

    @property
    def has_begun(self) -> bool:
        """Whether the units were granted."""
        return bool(self._hold) and self.record.state == 'HELD'

    @property
    def is_lost(self) -> bool:
        """Whether others may have the units by now."""
        return self.lost.is_set() or self._own.is_parents

    def check(self) -> None:
        """Raises `HoldLost` if others may have the units by now, or if this process was forked from the holder."""
        if self._own.is_parents:
            raise HoldLost('it is held by the process that this one was forked from')
        if self._why is not None:
            raise HoldLost(self._why)

    def __enter__(self) -> Holding:
        until = time.monotonic() + self._ttl_seconds
        self._own = Own()
        try:
            hold_end.enter(self)
            while not self._take(until):
                pass
            threading.Thread(target=self._keep, name='muster-hold', daemon=True).start()
            if self._stop is not None and self._stop.is_set():
                raise Stopped
        except BaseException:
            self.leave()
            hold_end.leave(self)
            raise
        return self

    def leave(self) -> None:
        """Gives up the units, or the place in line, in the background."""
        if self._own.is_parents:
            return
        self._end.set()
        if self._hold:
            give_back(partial(self._give_up, self._hold, self.record.state))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._own.is_parents:
            self._end.set()
            try:
                self._exit()
            finally:
                hold_end.leave(self)
        # The block's error matters more.
        if error is None:
            self.check()

    def _exit(self) -> None:
        if self._why is None:
            try:
                # A signal does not cut it.
                take_for(None, self._release, lambda _: None)
            except MusterError as refusal:
                if _is_lost(refusal):
                    self._why = refusal.message

    def _take(self, until: float) -> bool:
        """Takes the units; waits for them in line. Returns False if its place in line was lost before that time."""
        undo: Callable[[tuple[AcquiredHold, float]], None] = lambda taken: self._give_up(_key(taken[0]), taken[0].state)
        acquired, _ = take_for(self._stop, partial(self._acquire, until), undo, self._accept)
        if acquired.state != 'WAITING':
            return True
        self.record, is_last = wait_in_line(self._place, acquired, until, self._stop)
        state = self.record.state
        if state != 'HELD':
            self._hold = {}
            if state == 'EXPIRED' and not is_last:
                return False
            if state == 'EXPIRED':
                words = 'the units were not free within ttl_seconds: wait longer, or try later'
                raise MusterError('POOL_EXHAUSTED', words, status=429)
            raise HoldLost(f'the hold is {state}')
        sent_at = time.monotonic()
        try:
            # The lease began when the units were granted, an unknown time ago.
            self._insist(HOLD_RENEW, self._hold, self._stop)
        except MusterError as error:
            if _is_lost(error):
                self._hold = {}
                raise HoldLost(str(error)) from error
            raise
        self._ends_at = sent_at + self._lease_seconds
        return True

    def _accept(self, taken: tuple[AcquiredHold, float]) -> None:
        acquired, sent_at = taken
        self.record, self._hold, self._ends_at = acquired, _key(acquired), sent_at + self._lease_seconds

    def _acquire(self, until: float) -> tuple[AcquiredHold, float]:
        """Returns the hold, and when the call was sent that may have begun its lease."""
        is_again = has_waited = False
        while True:
            pool_id = id_by_name(self._muster, POOL_LIST, 'pool', self._pool)
            if self._stop is not None and self._stop.is_set():
                raise Stopped
            ttl_seconds = min(self._ttl_seconds, place_until(until))
            sent_at = time.monotonic()
            try:
                asked = {**self._asked, 'poolId': pool_id, 'ttlSeconds': ttl_seconds}
                return self._muster.request(POOL_ACQUIRE, asked), sent_at
            except MusterError as error:
                # A hold that was given up may not have been given back yet.
                if error.code == 'DEADLOCK' and not has_waited and given_back():
                    has_waited = True
                    continue
                # The pool may have been created again under its name.
                if error.code != 'POOL_NOT_FOUND' or is_again or pool_id == self._pool:
                    raise
                self._muster.ids.pop(('pool', self._pool), None)
                is_again = True

    @property
    def _place(self) -> Place[Hold]:
        request = partial(self._muster.request, attempts=1, stop=self._stop)
        hold_id = self._hold['holdId']

        def view(wait_seconds: int, timeout_seconds: float) -> Hold:
            asked = {'holdId': hold_id, 'waitSeconds': wait_seconds}
            return request(HOLD_VIEW, asked, timeout_seconds=timeout_seconds)

        def renew(ttl_seconds: int, timeout_seconds: float) -> object:
            asked = {'holdId': hold_id, 'ttlSeconds': ttl_seconds}
            return request(HOLD_RENEW, asked, timeout_seconds=timeout_seconds)

        return Place(view, renew)

    def _insist(self, endpoint: Endpoint[T], args: dict[str, Any], stop: Stop | None) -> T:
        """Makes a call until it is answered."""
        stop = stop or Stop()
        while True:
            try:
                return self._muster.request(endpoint, args, attempts=1, stop=stop)
            except MusterError as error:
                if not error.is_passing:
                    raise
            if stop.wait(_pause_seconds):
                raise Stopped

    def _give_up(self, hold: dict[str, Any], state: str) -> None:
        """Leaves the queue, or releases the units if they were granted meanwhile."""
        request = partial(self._muster.request, timeout_seconds=_give_up_seconds)
        if state == 'WAITING':
            try:
                request(HOLD_CANCEL, {'holdId': hold['holdId']})
                return
            except MusterError as error:
                if error.code != 'HOLD_NOT_WAITING':
                    raise
        request(HOLD_RELEASE, hold)

    def _release(self) -> None:
        while True:
            left = max(_min_release_seconds, self._ends_at - time.monotonic())
            try:
                self._muster.request(
                    HOLD_RELEASE, self._hold, attempts=1, timeout_seconds=min(_max_release_seconds, left)
                )
                return
            except MusterError as error:
                if not error.is_passing:
                    raise
            # Nobody answers, so the lease ends by itself.
            if time.monotonic() + _pause_seconds >= self._ends_at:
                return
            time.sleep(_pause_seconds)

    def _keep(self) -> None:
        """Renews the lease after about a third of its length.

        The hold counts as lost if no renewal was answered for the whole length, by the local clock.
        """
        third = self._lease_seconds / 3
        is_answered = True
        while True:
            left = self._ends_at - time.monotonic()
            if left <= 0:
                self._lose('its lease has ended, and no renewal was answered')
                return
            pause = max(0.0, left - 2 * third) if is_answered else min(left, _pause_seconds)
            if self._end.wait(pause):
                return
            sent_at = time.monotonic()
            left = self._ends_at - sent_at
            if left <= 0:
                continue
            timeout = min(third, left)
            try:
                self._muster.request(HOLD_RENEW, self._hold, attempts=1, timeout_seconds=timeout, stop=self._end)
                self._ends_at = sent_at + self._lease_seconds
                is_answered = True
            except Stopped:
                return
            except MusterError as error:
                is_answered = False
                if _is_lost(error):
                    self._lose(error.message)
                    return

    def _lose(self, why: str) -> None:
        self._why = why
        self.lost.set()


def _key(hold: AcquiredHold) -> dict[str, Any]:
    return {'holdId': hold.id, 'token': hold.token}


def _is_lost(error: BaseException) -> bool:
    return isinstance(error, MusterError) and error.code in ('CLAIM_LOST', 'HOLD_NOT_FOUND')
