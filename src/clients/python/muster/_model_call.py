"""A model call: its usage, and the provider's remaining limits."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Optional, ParamSpec, Protocol, TypeVar, cast

from ._arguments import Amount
from ._outcome import EndedCall, RequestEnd, end_by_status
from ._rate_limits import Limit, ProviderHeaders, Remaining, remaining_in, retry_after_seconds
from ._records import ReservationRecord

P = ParamSpec('P')
R = TypeVar('R')

_LIMITS: tuple[Limit, ...] = ('tokens', 'requests')
_TOO_MANY = 429


@dataclass(frozen=True)
class Usage:
    """The usage of a model call."""

    input_tokens: int = 0
    """The whole input, cached or not"""
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input read from the provider's cache"""

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


def _number_in(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and value >= 0:
            return value
    return None


def usage_in(body: Any) -> Usage | None:
    """Returns the `usage` in an answer's JSON, in the formats of OpenAI and Anthropic; None if there is none."""
    usage: Any = cast('Mapping[str, Any]', body).get('usage') if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    known = cast('Mapping[str, Any]', usage)
    given = _number_in(known, 'input_tokens', 'prompt_tokens')
    output = _number_in(known, 'output_tokens', 'completion_tokens')
    if given is None and output is None:
        return None
    # Anthropic counts input written to and read from its cache separately; OpenAI includes it in the input.
    read = _number_in(known, 'cache_read_input_tokens')
    written = _number_in(known, 'cache_creation_input_tokens') or 0
    details: Any = known.get('prompt_tokens_details') or known.get('input_tokens_details')
    cached = read
    if cached is None and isinstance(details, Mapping):
        cached = _number_in(cast('Mapping[str, Any]', details), 'cached_tokens')
    return Usage((given or 0) + (read or 0) + written, output or 0, cached or 0)


class _Request:
    """A request to the provider, and how it has ended."""

    def __init__(self, response: Any = None) -> None:
        self.response = response
        self.end: RequestEnd = 'open'
        self.has_usage = False


class Fetch(Protocol):
    """Makes a request: see `ModelCall.fetch`."""

    def __call__(self, send: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...


class ModelCall:
    """A model call, passed to the function that makes it.

    The function makes its requests with `fetch`, or passes each answer to `answered`, and reports other usage with
    `used`.
    """

    usage: Optional[Usage]
    requests: int
    """The number of successful requests"""
    remaining: dict[Limit, Remaining]
    """The provider's limits, as reported with the last answer"""
    is_limited: bool
    """Whether the provider has refused a request with 429"""
    retry_after_seconds: Optional[float]
    work_key: Optional[str]
    """The workKey of the call's reservation, unique among all attempts; None without a budget"""
    earlier: Callable[[], Sequence[ReservationRecord]]
    """Returns the reservations in this budget that earlier attempts of the same work have made, oldest first. An attempt
    that died leaves one that is ACTIVE until its `settle_by`, and SETTLED from then on. It makes requests, so it blocks"""

    def __init__(
        self,
        providers: Sequence[ProviderHeaders],
        *,
        limit_seconds: float,
        earlier: Callable[[], Sequence[ReservationRecord]] = lambda: (),
        work_key: str | None = None,
    ) -> None:
        self.usage = None
        self.requests = 0
        self.remaining = {}
        self.is_limited = False
        self.retry_after_seconds = None
        self.amount_minor: Optional[int] = None
        self.units: Optional[int] = None
        self.work_key = work_key
        self.earlier = earlier
        self._providers = providers
        self._limit_seconds = limit_seconds
        self._ends_at = time.monotonic() + limit_seconds
        self._requests: list[_Request] = []
        self._has_taken_fetch = False
        self._has_reported = False
        # asyncio may cancel a function that has not run a line yet: it has sent nothing.
        self._is_unbegun = False

    @property
    def timeout_seconds(self) -> float:
        """How long the call may still take: until 30 seconds before `max_seconds` are over.

        Pass it to your HTTP client, as nothing can end a blocking request from outside. In asyncio programs the function
        is cancelled at this time.
        """
        return max(0.0, self._ends_at - time.monotonic())

    @property
    def fetch(self) -> Fetch:
        """Makes a request: `call.fetch(httpx.post, url, json=…)`, `call.fetch(client.messages.create, model=…)`.

        Calls the function with the arguments, and returns what it returns, or a coroutine for a coroutine function. Reads
        the answer, or the error, as `answered` does. If all requests are made with it, a call that has sent nothing
        costs nothing.
        """
        self._has_taken_fetch = True
        return self._fetch

    def _fetch(self, send: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.timeout_seconds == 0:
            raise TimeoutError(f'the call took longer than {self._limit_seconds:g} s')
        request = _Request()
        self._requests.append(request)
        try:
            answer = send(*args, **kwargs)
        except BaseException as error:
            self._lost(request, error)
            raise
        if inspect.isawaitable(answer):
            return cast(R, self._awaited(request, answer))
        self._read(request, answer)
        return answer

    async def _awaited(self, request: _Request, answer: Awaitable[Any]) -> Any:
        try:
            value = await answer
        except BaseException as error:
            self._lost(request, error)
            raise
        self._read(request, value)
        return value

    def _lost(self, request: _Request, error: BaseException) -> None:
        """Reads the response that an error has or is. Without one, the request has no answer."""
        response = _response_of(error)
        if response is None:
            request.end = 'lost'
        else:
            self._read(request, response)

    def answered(self, response: Any, body: Any = None) -> None:
        """Reads the provider's answer: the status, the headers that report remaining limits, and the usage in the JSON.

        `fetch` does this. If the function raises an exception that is a response, or has a `response` as those of the SDKs
        do, that response is read without this call.

        Args:
            response: a response of httpx, requests, urllib or a provider's SDK (`with_raw_response`)
            body: the response's JSON, if `response.json()` does not return it
        """
        for request in self._requests:
            if request.response is response:
                if body is not None and not request.has_usage:
                    self._read_body(request, _status_of(response), body)
                return
        request = _Request()
        self._requests.append(request)
        self._read(request, response, body)

    def _read(self, request: _Request, response: Any, body: Any = None) -> None:
        request.response = response
        status = _status_of(response)
        given: Any = getattr(response, 'headers', None) or {}
        headers = {str(name).lower(): str(value) for name, value in dict(given).items()}
        now = time.time()
        for limit in _LIMITS:
            remaining = remaining_in(headers, limit, self._providers, now)
            if remaining is not None:
                self.remaining[limit] = remaining
        if status == _TOO_MANY:
            self.is_limited = True
            self.retry_after_seconds = retry_after_seconds(headers, now)
        elif 200 <= status < 300:
            self.requests += 1
        is_readable = 'json' in headers.get('content-type', 'json')
        self._read_body(request, status, _json_of(response) if body is None and is_readable else body)

    def _read_body(self, request: _Request, status: int, body: Any) -> None:
        usage = usage_in(body)
        if usage is not None:
            request.has_usage = True
            self._add(usage)
        end = end_by_status(status)
        if end == 'lost':
            request.end = 'lost'
        elif usage is not None:
            request.end = 'known'
        else:
            request.end = end or ('left' if body is None else 'silent')

    def _add(self, usage: Usage) -> None:
        before = self.usage or Usage()
        self.usage = Usage(
            before.input_tokens + usage.input_tokens,
            before.output_tokens + usage.output_tokens,
            before.cached_tokens + usage.cached_tokens,
        )

    def used(
        self, usage: Usage | None = None, *, amount_minor: Amount | None = None, units: int | None = None
    ) -> None:
        """Reports usage that is not in a JSON answer, for example of a stream. Several reports add up.

        Args:
            usage: the tokens used
            amount_minor: the cost in minor units; it takes precedence over `price`
            units: the units of the quota; they take precedence over the tokens
        """
        self._has_reported = True
        if usage is not None:
            self._add(usage)
        if amount_minor is not None:
            self.amount_minor = (self.amount_minor or 0) + int(amount_minor)
        if units is not None:
            self.units = (self.units or 0) + units

    def begin(self, work: Callable[[ModelCall], Awaitable[R]]) -> Awaitable[R]:
        """Calls a coroutine function."""

        async def begun() -> R:
            self._is_unbegun = False
            return await work(self)

        self._is_unbegun = True
        return begun()

    def ended(self, error: BaseException | None) -> EndedCall:
        """Returns the facts about the call, once the function has returned or raised an error."""
        response = _response_of(error)
        if response is not None:
            # The error matters more than an answer that cannot be read.
            with suppress(Exception):
                self.answered(response)
        is_answered = len(self._requests) > 0 and (error is None or response is not None)
        return EndedCall(
            requests=[request.end for request in self._requests],
            has_raised=error is not None,
            has_taken_fetch=self._has_taken_fetch or self._is_unbegun or is_answered,
            has_reported=self._has_reported,
        )


def _response_of(error: BaseException | None) -> Any:
    """Returns the response that an exception has or is, if any."""
    for one in (getattr(error, 'response', None), error):
        if one is not None and hasattr(one, 'headers') and _status_of(one, 0) > 0:
            return one
    return None


def _status_of(response: Any, preset: int = 200) -> int:
    """Returns a response's status. An SDK's parsed answer has none: it is a success."""
    for name in ('status_code', 'status', 'code'):
        status = getattr(response, name, None)
        if isinstance(status, int):
            return status
    return preset


def _json_of(response: Any) -> Any:
    """Returns the JSON of a response, or of an SDK's parsed answer. None if there is none."""
    if isinstance(response, Mapping):
        return cast('Mapping[str, Any]', response)
    for name in ('model_dump', 'json'):
        try:
            return getattr(response, name)()
        except Exception:  # noqa: BLE001: without JSON, there is no usage
            continue
    return None
