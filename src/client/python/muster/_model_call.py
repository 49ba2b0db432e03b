"""A model call: its usage, and the provider's remaining limits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, cast

from ._arguments import Amount
from ._rate_limits import Limit, ProviderHeaders, Remaining, remaining_in, retry_after_seconds

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


class ModelCall:
    """A model call, passed to the function that makes it. The function reports the answer with `answered` or `used`."""

    usage: Optional[Usage]
    requests: int
    """The number of successful requests"""
    remaining: Optional[Remaining]
    is_limited: bool
    """Whether the provider has refused a request with 429"""
    retry_after_seconds: Optional[float]

    def __init__(self, limit: Limit, providers: Sequence[ProviderHeaders]) -> None:
        self.usage = None
        self.requests = 0
        self.remaining = None
        self.is_limited = False
        self.retry_after_seconds = None
        self.amount_minor: Optional[int] = None
        self.units: Optional[int] = None
        self._limit: Limit = limit
        self._providers = providers
        self._seen: list[object] = []

    def answered(self, response: Any, body: Any = None) -> None:
        """Reads the provider's answer: the status, the headers that report remaining limits, and the usage in the JSON.

        If the function raises an exception that is a response, or has a `response` as those of the SDKs do, that
        response is read without this call.

        Args:
            response: a response of httpx, requests, urllib or a provider's SDK (`with_raw_response`)
            body: the response's JSON, if `response.json()` does not return it
        """
        if any(response is one for one in self._seen):
            return
        self._seen.append(response)
        status = next((getattr(response, name) for name in ('status_code', 'status', 'code') if getattr(response, name, None)), 0)
        headers = {str(name).lower(): str(value) for name, value in dict(response.headers or {}).items()}
        now = time.time()
        self.remaining = remaining_in(headers, self._limit, self._providers, now) or self.remaining
        if status == _TOO_MANY:
            self.is_limited = True
            self.retry_after_seconds = retry_after_seconds(headers, now)
        elif 200 <= status < 300:
            self.requests += 1
        usage = usage_in(_json_of(response) if body is None else body)
        if usage is not None:
            self.used(usage)

    def used(
        self, usage: Usage | None = None, *, amount_minor: Amount | None = None, units: int | None = None
    ) -> None:
        """Reports usage that is not in a JSON answer, for example of a stream. Several reports add up.

        Args:
            usage: the tokens used
            amount_minor: the cost in minor units; it takes precedence over `price`
            units: the units of the quota; they take precedence over the tokens
        """
        if usage is not None:
            before = self.usage or Usage()
            self.usage = Usage(
                before.input_tokens + usage.input_tokens,
                before.output_tokens + usage.output_tokens,
                before.cached_tokens + usage.cached_tokens,
            )
        if amount_minor is not None:
            self.amount_minor = (self.amount_minor or 0) + int(amount_minor)
        if units is not None:
            self.units = (self.units or 0) + units

    def raised(self, error: BaseException) -> None:
        """Reads the response that an exception has or is, if any."""
        for one in (getattr(error, 'response', None), error):
            if one is not None and hasattr(one, 'headers'):
                self.answered(one)
                return


def _json_of(response: Any) -> Any:
    try:
        return response.json()
    except Exception:  # noqa: BLE001: without JSON, there is no usage
        return None
