"""Providers' limits, as reported in the headers of their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple, Optional

Limit = Literal['tokens', 'requests']


class LimitHeaders(NamedTuple):
    """The names of the headers for a limit's remaining units and its reset."""

    remaining: str
    reset: str
    """A date-time, seconds, or a duration like `6m0s` or `20ms`"""


class ProviderHeaders(NamedTuple):
    """The headers of a provider's limits."""

    tokens: LimitHeaders
    requests: LimitHeaders


KNOWN_PROVIDERS: Sequence[ProviderHeaders] = (
    # OpenAI and compatible providers.
    ProviderHeaders(
        LimitHeaders('x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'),
        LimitHeaders('x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'),
    ),
    # Anthropic.
    ProviderHeaders(
        LimitHeaders('anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'),
        LimitHeaders('anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'),
    ),
)
"""The providers whose headers are known. To add another: `providers=[*KNOWN_PROVIDERS, ProviderHeaders(…)]`"""


class Remaining(NamedTuple):
    """The state of one of a provider's limits, as reported with an answer."""

    units: int
    reset_at: Optional[float]
    """When the limit resets, in epoch seconds by the clock of this process; None if unknown"""


_duration = re.compile(
    r'(?=.)(?:([\d.]+)d)?(?:([\d.]+)h)?(?:([\d.]+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?', re.ASCII
)
_seconds = (86_400, 3_600, 60, 1, 0.001)
_number = re.compile(r'\d+(\.\d+)?', re.ASCII)


def _moment(text: str, now: float) -> float | None:
    if _number.fullmatch(text):
        return now + float(text)
    parts = _duration.fullmatch(text)
    if parts is not None:
        return now + sum(float(part or 0) * seconds for part, seconds in zip(parts.groups(), _seconds))
    try:
        at = datetime.fromisoformat(text.replace('Z', '+00:00'))
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()


def remaining_in(
    headers: Mapping[str, str], limit: Limit, providers: Sequence[ProviderHeaders], now: float
) -> Remaining | None:
    """Returns the state of a limit, from headers with lower-case names; None if they don't report it."""
    for provider in providers:
        names = provider.tokens if limit == 'tokens' else provider.requests
        text = headers.get(names.remaining, '')
        if text.isdecimal():
            return Remaining(int(text), _moment(headers.get(names.reset, ''), now))
    return None


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Returns how many seconds to wait after a 429, from headers with lower-case names; None if unknown."""
    ms = headers.get('retry-after-ms', '')
    if _number.fullmatch(ms):
        return float(ms) / 1000
    text = headers.get('retry-after', '')
    if _number.fullmatch(text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now) if text else None
    except (TypeError, ValueError):
        return None
