"""Requests over keep-alive connections, with retries."""

from __future__ import annotations

import http.client
import io
import math
import random
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from ._arguments import ABSENT
from ._errors import MusterError, Stopped, text_of
from ._forks import Own
from ._json import loads_answer
from ._signals import cut_by_signals

_at_once_codes = ('POOL_EXHAUSTED', 'CONCURRENCY_LIMITED', 'ALLOWANCE_EXHAUSTED', 'ALLOWANCE_COOLING_DOWN')
"""Refusals with 429 of calls that want something now or not at all: an acquire without ttlSeconds, a consume, a receive.
For each, another call waits in a queue."""
_max_pause_seconds = 60
"""A longer Retry-After is left to the caller."""
_first_pause_seconds = 0.1
_max_own_pause_seconds = 2.0
default_retry_seconds = 30.0
_max_mebibytes = 32
"""Far above the largest answer of the service: the messages of a receive have 4 MiB together."""
_max_bytes = _max_mebibytes * 1024 * 1024
_kept_seconds = 4.0
"""How long an idle connection is reused. Some proxies close one after 5 s."""


class Stop:
    """Ends calls from another thread: calls in flight at once, later ones before they begin. They raise `Stopped`."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._ends: set[Callable[[], None]] = set()

    def set(self) -> None:
        """Ends the calls."""
        with self._lock:
            self._event.set()
            ends = list(self._ends)
        for end in ends:
            end()

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._event.is_set()

    def wait(self, seconds: float | None) -> bool:
        """Waits this long (None: without a limit), or until it is set. Returns whether it is set."""
        return cut_by_signals(partial(self._event.wait, seconds))

    def add(self, end: Callable[[], None]) -> None:
        """Calls `end` when it is set, or at once if it already is."""
        with self._lock:
            self._ends.add(end)
            is_set = self._event.is_set()
        if is_set:
            end()

    def remove(self, end: Callable[[], None]) -> None:
        """Removes a function that was added."""
        with self._lock:
            self._ends.discard(end)


@contextmanager
def any_of(*stops: Stop) -> Generator[Stop]:
    """A stop that is set, during the block, as soon as one of these is."""
    first = Stop()
    for stop in stops:
        stop.add(first.set)
    try:
        yield first
    finally:
        for stop in stops:
            stop.remove(first.set)


class _Bounded(io.RawIOBase):
    """The bytes of a response, up to a moment. The timeout of the socket bounds only each wait."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, ends_at: float) -> None:
        self.ends_at = ends_at
        self._raw = raw
        self._socket = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if self.ends_at < math.inf:
            left = self.ends_at - time.monotonic()
            if left <= 0:
                raise TimeoutError('the answer did not arrive in time')
            self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """A response that must arrive within a time."""

    def __init__(self, sock: socket.socket, *args: Any, seconds: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        raw: Any = cast(Any, self.fp).detach()
        self.bytes = _Bounded(raw, sock, time.monotonic() + seconds)
        self.fp = io.BufferedReader(self.bytes)

    def text(self) -> bytes | None:
        """Returns the body; None if it is too large."""
        parts: list[bytes] = []
        size = 0
        while part := self.read(min(_max_bytes + 1 - size, 1_048_576)):
            size += len(part)
            if size > _max_bytes:
                return None
            parts.append(part)
        if self.length:
            raise http.client.IncompleteRead(b'', self.length)
        return b''.join(parts)


def _answer(connection: http.client.HTTPConnection, seconds: float) -> _Response:
    make: Any = partial(_Response, seconds=seconds)
    connection.response_class = make
    return cast(_Response, connection.getresponse())


class _Outcome:
    """The response to one attempt."""

    def __init__(self, status: int, headers: Message, text: bytes | None, request_id: str) -> None:
        self.status = status
        self.headers = headers
        self.request_id = request_id
        """The id that the request was sent with"""
        self.body = None if text is None else _object_of(text)
        """The JSON object in its body; None if there is none"""
        self.error = _error_in(self.body)
        """The error in its body; None if it has none"""
        self.strange = self._strangeness(text)
        """Why it is not Muster's answer to this request; None if it is"""

    @property
    def retry_after(self) -> int | None:
        value = self.headers.get('Retry-After', '')
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None

    def _strangeness(self, text: bytes | None) -> str | None:
        strange = strangeness(self.status, self.headers, self.request_id)
        is_read = self.status == 204 or (self.body if self.status < 300 else self.error) is not None
        if strange is not None or is_read:
            return strange
        if text is None:
            return f'larger than {_max_mebibytes} MiB'
        # Without any of it: it may have the data of others.
        return f'{_content_type(self.headers)} of {len(text)} bytes' if text else 'its body is empty'


def strangeness(status: int, headers: Message, request_id: str) -> str | None:
    """Returns why the head of a response is not of Muster's answer to this request; None if it may be."""
    if 300 <= status < 400:
        return f'a redirect to {_origin(headers.get("Location", ""))}, which the client does not follow'
    found = headers.get('X-Request-Id')
    if found is None:
        return f'{_content_type(headers)} without the header X-Request-Id'
    # Headers that are too large are refused unread.
    if found != request_id and status != 431:
        return 'its X-Request-Id is not that of the request, which a proxy must pass on unchanged'
    return None


def _object_of(text: bytes) -> Any:
    try:
        value = loads_answer(text)
    except (ValueError, RecursionError):
        return None
    return cast(Any, value) if isinstance(value, dict) else None


def _content_type(headers: Message) -> str:
    return headers.get('Content-Type', 'something')[:100]


def _origin(location: str) -> str:
    try:
        parts = urlsplit(location)
    except ValueError:
        return 'another path'
    # Without the name and password that it may have.
    host = parts.netloc.rpartition('@')[2]
    return f'{parts.scheme}://{host}' if parts.scheme and host else 'another path'


class Transport:
    """The connections to one server, with one key. Threads may share it: each call in flight has its own connection."""

    def __init__(
        self,
        url: str,
        key: str | Callable[[], str],
        *,
        retry_seconds: float,
        attempts: int | None,
        timeout_seconds: float,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ('http', 'https') or not parts.hostname:
            raise ValueError(f'url must be like http://127.0.0.1:8080, not {url!r}')
        self.url = parts
        self._base = parts.path.rstrip('/')
        self._retry_seconds = retry_seconds
        self._attempts = math.inf if attempts is None else attempts
        self._timeout_seconds = timeout_seconds
        self._key = key
        self._idle: deque[tuple[http.client.HTTPConnection, float]] = deque()
        self._own = Own()
        """Whose the idle connections are"""
        self._is_closed = False
        self._date: tuple[str, float] | None = None
        """The `Date` header of the last answer, and when it arrived"""

    @property
    def server_time(self) -> float | None:
        """The server's time, up to a second later; None before its first answer."""
        if self._date is None:
            return None
        date, at = self._date
        try:
            # The header leaves out the part of a second.
            return parsedate_to_datetime(date).timestamp() + 1 + time.monotonic() - at
        except (TypeError, ValueError):
            return None

    def call(
        self,
        method: str,
        target: str,
        body: str | None,
        *,
        idempotency_key: str = ABSENT,
        attempts: int = ABSENT,
        retry_seconds: float = ABSENT,
        timeout_seconds: float | None = None,
        stop: Stop | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Makes one call. All its attempts have the same Idempotency-Key, so it happens once."""
        headers = {'Accept': 'application/json', **(headers or {})}
        if method != 'GET':
            headers['Idempotency-Key'] = str(uuid.uuid4()) if idempotency_key is ABSENT else idempotency_key
            headers['Content-Type'] = 'application/json'
        data = None if body is None else body.encode()
        most = self._attempts if attempts is ABSENT else attempts
        retry_seconds = self._retry_seconds if retry_seconds is ABSENT else retry_seconds
        attempt, ends_at = 0, None
        while True:
            attempt += 1
            headers['Authorization'] = self._bearer()
            outcome = self._once(method, target, data, headers, timeout_seconds or self._timeout_seconds, stop)
            if isinstance(outcome, _Outcome) and outcome.strange is None and (date := outcome.headers.get('Date')) is not None:
                self._date = date, time.monotonic()
            now = time.monotonic()
            # An attempt that begins before that may end much later.
            ends_at = now + retry_seconds if ends_at is None else ends_at
            pause = _pause_before(outcome, attempt) if attempt < most and now < ends_at else None
            if pause is None:
                return self._read(outcome, f'{method} {target}')
            if stop is None:
                time.sleep(pause)
            elif stop.wait(pause):
                raise Stopped

    def lines(self, target: str, *, silent_seconds: float, stop: Stop) -> Iterator[str]:
        """Yields the lines of a stream. Raises UNREACHABLE when the stream is cut or silent for too long."""
        call, request_id = f'GET {target}', str(uuid.uuid4())
        connection = self._new(silent_seconds)
        end = _cutter(connection)
        stop.add(end)
        try:
            headers = {
                'Authorization': self._bearer(),
                'Accept': 'text/event-stream',
                'X-Request-Id': request_id,
            }
            connection.request('GET', self._base + target, None, headers)
            if stop.is_set():
                raise Stopped
            response = _answer(connection, math.inf)
            is_stream = response.headers.get('Content-Type', '').startswith('text/event-stream')
            status, head = response.status, response.headers
            if status != 200 or not is_stream or strangeness(status, head, request_id) is not None:
                response.bytes.ends_at = time.monotonic() + silent_seconds
                self._read(_Outcome(status, head, response.text(), request_id), call)
                raise MusterError('UNREADABLE', f'{call}: {status}, not a stream of events', request_id=request_id)
            while line := response.readline(_max_bytes):
                if len(line) == _max_bytes:
                    raise ConnectionError('an event of the stream is too large')
                yield line.decode().rstrip('\r\n')
            raise ConnectionError('the stream has ended')
        except (OSError, http.client.HTTPException) as error:
            if stop.is_set():
                raise Stopped from None
            raise MusterError('UNREACHABLE', f'{call}: {error}') from error
        finally:
            stop.remove(end)
            connection.close()

    def _bearer(self) -> str:
        if not callable(self._key):
            return f'Bearer {self._key}'
        try:
            return f'Bearer {self._key()}'
        except Exception as error:
            raise MusterError('UNREACHABLE', f'the key function raised {type(error).__name__}: {text_of(error)}') from error

    def close(self) -> None:
        """Closes idle connections. Later calls open new ones, and close them again."""
        self._is_closed = True
        while self._idle:
            self._idle.pop()[0].close()

    def _once(
        self,
        method: str,
        target: str,
        data: bytes | None,
        headers: dict[str, str],
        timeout_seconds: float,
        stop: Stop | None,
    ) -> _Outcome | Exception:
        """Makes one attempt. Returns the response, or an error if it did not arrive completely."""
        ends_at = time.monotonic() + timeout_seconds
        while True:
            request_id = str(uuid.uuid4())
            headers['X-Request-Id'] = request_id
            connection, is_new = self._connection(timeout_seconds)
            end = _cutter(connection)
            if stop is not None:
                stop.add(end)
            try:
                if stop is not None and stop.is_set():
                    raise Stopped
                connection.request(method, self._base + target, data, headers)
                # `stop` may have been set before there was a connection to cut.
                if stop is not None and stop.is_set():
                    raise Stopped
                response = _answer(connection, ends_at - time.monotonic())
                text = response.text()
                outcome = _Outcome(response.status, response.headers, text, request_id)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if stop is not None and stop.is_set():
                    raise Stopped from None
                # The server may have closed an idle connection. Try another one.
                if not is_new and isinstance(error, (ConnectionError, http.client.BadStatusLine)):
                    continue
                return error
            except BaseException:
                connection.close()
                raise
            finally:
                if stop is not None:
                    stop.remove(end)
            if text is None or response.will_close or self._is_closed or (stop is not None and stop.is_set()):
                connection.close()
            else:
                self._idle.append((connection, time.monotonic()))
            return outcome

    def _connection(self, timeout_seconds: float) -> tuple[http.client.HTTPConnection, bool]:
        if self._own.is_parents:
            # Closed here, they stay open in the parent, which uses them.
            for connection, _ in self._idle:
                connection.close()
            self._idle, self._own = deque(), Own()
        while True:
            try:
                connection, since = self._idle.pop()
            except IndexError:
                break
            if time.monotonic() - since < _kept_seconds:
                connection.sock.settimeout(timeout_seconds)
                return connection, False
            connection.close()
        return self._new(timeout_seconds), True

    def _new(self, timeout_seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.url.scheme == 'https' else http.client.HTTPConnection
        return kind(cast(str, self.url.hostname), self.url.port, timeout=timeout_seconds)

    def _read(self, outcome: _Outcome | Exception, call: str) -> Any:
        if isinstance(outcome, Exception):
            why = str(outcome) or type(outcome).__name__
            raise MusterError('UNREACHABLE', f'{call}: no answer: {why}') from outcome
        about: dict[str, Any] = {
            'status': outcome.status,
            'request_id': outcome.request_id,
            'retry_after_seconds': outcome.retry_after,
        }
        if outcome.strange is not None:
            why = f'{outcome.status}, not a Muster response: {outcome.strange}'
            raise MusterError('UNREADABLE', f'{call}: {why}', **about)
        if outcome.error is not None and outcome.status >= 300:
            error = outcome.error
            about.update(
                request_id=outcome.headers.get('X-Request-Id'), index=error.get('index'), call=error.get('call')
            )
            raise MusterError(error['code'], error['message'], **about)
        return outcome.body


def _error_in(body: Any) -> dict[str, Any] | None:
    """The error in the body of a response; None if it is none of Muster's."""
    error: Any = cast('dict[str, Any]', body).get('error') if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    found = cast('dict[str, Any]', error)
    return found if isinstance(found.get('code'), str) and isinstance(found.get('message'), str) else None


def _cutter(connection: http.client.HTTPConnection) -> Callable[[], None]:
    """Returns a function that ends every wait for this connection."""

    own = Own()

    def cut() -> None:
        if own.is_parents:
            return
        live = cast('socket.socket | None', connection.sock)
        if live is not None:
            with suppress(OSError):
                live.shutdown(socket.SHUT_RDWR)

    return cut


def pause_after(failures: int, first_seconds: float, max_seconds: float) -> float:
    """Returns the pause after this many earlier failures in a row. Each pause is twice the one before, up to a maximum."""
    # An outage of hours fails more often than a float can be doubled.
    return min(max_seconds, first_seconds * 2 ** min(failures, 30))


def _pause_before(outcome: _Outcome | Exception, attempt: int) -> float | None:
    """Returns the seconds before the next attempt, with jitter; None if there is none."""
    spread = 1 + random.random() / 4
    pause = pause_after(attempt - 1, _first_pause_seconds, _max_own_pause_seconds)
    if isinstance(outcome, Exception):
        return pause * spread
    status, error, is_strange = outcome.status, outcome.error, outcome.strange is not None
    # The same bytes would be too large again.
    if status == 413 if is_strange else status not in (408, 429, 503):
        return None
    if not is_strange and status == 429 and error is not None and error['code'] in _at_once_codes:
        return None
    asked = (1 if status in (429, 503) else 0) if outcome.retry_after is None else outcome.retry_after
    return None if asked > _max_pause_seconds else max(pause, asked) * spread
