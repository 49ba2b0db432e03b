"""Verifies that webhook messages are Muster's (Standard Webhooks 1.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ._json import loads
from ._records import Event


class WebhookError(Exception):
    """The message has no valid signature, or its timestamp is too far from now."""


@dataclass(frozen=True)
class WebhookMessage:
    """A webhook message whose signature has been verified."""

    type: str
    """The event's type; `destination.test` for a test"""
    timestamp: str
    """When the event happened"""
    data: Event
    """The event as in the journal"""


class Headers(Protocol):
    """Headers in the form of a dict, of `http.server` and of most frameworks."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(
    body: str | bytes,
    headers: Headers,
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookMessage:
    """Verifies that a webhook message is Muster's, and returns it.

    Messages may come twice, so drop a `data.event_id` that you have seen.

    Args:
        body: the body exactly as received: parsed and serialized again, it may differ
        headers: the request's headers
        secret: the destination's `signing_secret`; several while one is being replaced
        tolerance_seconds: how old, or how far in the future, a message may be
        now: the current time in epoch seconds; default: the clock's

    Raises:
        WebhookError: no signature matches a secret, the timestamp is outside the tolerance, or a header is missing
        ValueError: a secret is not a `signing_secret`
    """
    named = {name.lower(): value for name, value in headers.items()}

    def header(name: str) -> str:
        if not named.get(name):
            raise WebhookError(f'the header {name} is missing')
        return named[name]

    message_id, timestamp, signatures = map(header, ('webhook-id', 'webhook-timestamp', 'webhook-signature'))
    present = time.time() if now is None else now
    if not re.fullmatch(r'[0-9]{1,12}', timestamp) or abs(present - int(timestamp)) > tolerance_seconds:
        raise WebhookError(f'webhook-timestamp is more than {tolerance_seconds:g} seconds from now')
    data = _bytes(body) if isinstance(body, str) else body
    signed = _bytes(f'{message_id}.{timestamp}.') + data
    given = [one[3:] for one in signatures.split(' ') if one.startswith('v1,')]
    for one in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.new(_key(one), signed, hashlib.sha256).digest())
        if any(hmac.compare_digest(expected, _bytes(signature)) for signature in given):
            message: dict[str, Any] = loads(data)
            return WebhookMessage(message['type'], message['timestamp'], Event(message['data']))
    raise WebhookError('no signature matches this secret')


def _bytes(text: str) -> bytes:
    # Servers decode bytes of headers that are no UTF-8 to surrogates.
    return text.encode('utf-8', 'surrogatepass')


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix('whsec_'), validate=True)
    except binascii.Error:
        key = b''
    if not key:
        raise ValueError('secret must be a signing_secret: whsec_ and base64')
    return key
