"""Units of a pool that are held while work runs."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._arguments import Id, text
from ._base import Endpoint
from ._calls import HOLD_CANCEL, HOLD_RELEASE, HOLD_RENEW, HOLD_VIEW, POOL_ACQUIRE, POOL_LIST, PoolCalls
from ._errors import HoldLost, MusterError, Stopped
from ._records import AcquiredHold, Hold
from ._spending import id_by_name
from ._transport import Stop

if TYPE_CHECKING:
    from ._client import Muster

T = TypeVar('T')

_view_seconds = 20
_pause_seconds = 0.5
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
        ttl_seconds: int = 300,
        stop: Stop | None = None,
    ) -> Holding:
        """Holds units of the pool while a block runs: `with muster.pool('deploys').hold() as hold: write(hold.fence)`.

        The block begins when the units are granted. Their lease is renewed while it runs, and they are always
        released at its end.

        Args:
            units: the units to hold, all or none
            scope_id: the run that the hold belongs to; default: a run of its own
            holder: the holder's name; default: the names of machine and process
            holder_session: the holder's session, by which deadlocks among waiting holders are found; default: one for
                each thread
            lease_seconds: the length of the lease: how soon others get the units if this process dies
            ttl_seconds: how long to wait for the units; 0 for not at all
            stop: ends the wait, which then raises `Stopped`

        Raises:
            MusterError: POOL_EXHAUSTED if the units were not free in time, DEADLOCK if the wait would never end
            LookupError: there is no pool with this name
            HoldLost: at the end of the block, if others may have had the units before
        """
        asked = {
            'units': units,
            'scopeId': text(scope_id or uuid.uuid4()),
            'holder': holder or f'{socket.gethostname()[:200]}/{os.getpid()}',
            'holderSession': holder_session or f'{_session}/{threading.get_ident()}',
            'leaseSeconds': lease_seconds,
            'ttlSeconds': ttl_seconds,
        }
        return Holding(self._muster, self._pool, asked, lease_seconds, stop)


class Holding:
    """Units of a pool, held during a `with` block."""

    record: Hold | AcquiredHold
    """The hold as it was granted"""
    lost: Stop
    """Set when the hold is lost. Pass it as `stop` to `batch`, `events`, `units`, `judge`, `hold` or a note's `changed`, to
    end them then"""
    has_begun: bool
    """Whether the units were granted"""

    def __init__(
        self, muster: Muster, pool: str, asked: dict[str, Any], lease_seconds: float, stop: Stop | None
    ) -> None:
        self.lost = Stop()
        self.has_begun = False
        self._muster = muster
        self._pool = pool
        self._asked = asked
        self._lease_seconds = lease_seconds
        self._stop = stop
        self._end = Stop()
        """The block has ended"""
        self._why: str | None = None
        self._ends_at = 0.0
        self._hold: dict[str, Any] = {}

    @property
    def fence(self) -> int:
        """Greater than every earlier holder's fence.

        Pass it to the protected resource, which must refuse smaller ones.
        """
        return self.record.fence or 0

    @property
    def is_lost(self) -> bool:
        """Whether others may have the units by now."""
        return self.lost.is_set()

    def check(self) -> None:
        """Raises `HoldLost` if others may have the units by now."""
        if self._why is not None:
            raise HoldLost(self._why)

    def __enter__(self) -> Holding:
        # Taken before the call, as the lease may have begun as soon as it was sent.
        sent_at = time.monotonic()
        acquired = self._acquire()
        self._hold = {'holdId': acquired.id, 'token': acquired.token}
        self.record = acquired
        if acquired.state == 'WAITING':
            try:
                self.record = self._wait(acquired.id)
                sent_at = time.monotonic()
                # The lease began when the units were granted, an unknown time ago.
                self._insist(HOLD_RENEW, self._hold, self._stop)
            except BaseException as error:
                self._give_up()
                if _is_lost(error):
                    raise HoldLost(str(error)) from error
                raise
        self._ends_at = sent_at + self._lease_seconds
        threading.Thread(target=self._keep, name='muster-hold', daemon=True).start()
        self.has_begun = True
        if self._stop is not None and self._stop.is_set():
            stopped = Stopped()
            self.__exit__(Stopped, stopped, None)
            raise stopped
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        if self._why is None:
            try:
                self._release()
            except MusterError as refusal:
                if _is_lost(refusal):
                    self._why = refusal.message
        # The block's error matters more.
        if error is None:
            self.check()

    def _acquire(self) -> AcquiredHold:
        is_again = False
        while True:
            pool_id = id_by_name(self._muster, POOL_LIST, 'pool', self._pool)
            try:
                return self._muster.request(POOL_ACQUIRE, {**self._asked, 'poolId': pool_id}, stop=self._stop)
            except MusterError as error:
                # The pool may have been created again under its name.
                if error.code != 'POOL_NOT_FOUND' or is_again or pool_id == self._pool:
                    raise
                self._muster.ids.pop(('pool', self._pool), None)
                is_again = True

    def _wait(self, hold_id: str) -> Hold:
        while True:
            found = self._insist(HOLD_VIEW, {'holdId': hold_id, 'waitSeconds': _view_seconds}, self._stop)
            if found.state == 'HELD':
                return found
            if found.state == 'EXPIRED':
                words = 'the units were not free within ttl_seconds: wait longer, or try later'
                raise MusterError('POOL_EXHAUSTED', words, status=429)
            if found.state != 'WAITING':
                raise HoldLost(f'the hold is {found.state}')

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

    def _give_up(self) -> None:
        """Leaves the queue, or releases the units if they were granted meanwhile."""
        with suppress(MusterError):
            try:
                self._muster.request(HOLD_CANCEL, {'holdId': self._hold['holdId']})
            except MusterError:
                self._muster.request(HOLD_RELEASE, self._hold)

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


def _is_lost(error: BaseException) -> bool:
    return isinstance(error, MusterError) and error.code in ('CLAIM_LOST', 'HOLD_NOT_FOUND')
