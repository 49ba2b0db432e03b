"""Payloads, inputs and results that are changed on their way: compressed, encrypted, kept elsewhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from ._arguments import encode
from ._record import Unreadable

_opaque = ('payload', 'input', 'result', 'outcome')


class Codec(Protocol):
    """Given to `Muster`, it works for sends, reads and workers alike; the first of several encodes first."""

    @property
    def name(self) -> str:
        """Kept with each value, so that readers know what to undo."""
        ...

    def encode(self, data: bytes) -> bytes | None:
        """What is kept instead of these bytes, the JSON text of the value at first; None: leaves this value as it is."""
        ...

    def decode(self, data: bytes) -> bytes:
        """Undoes it."""
        ...


class Encoded(dict[str, Any]):
    """A value that is encoded already, so that all attempts of a call send the same."""


def encode_value(codecs: Sequence[Codec], value: Any) -> Any:
    """A value as it is sent."""
    if isinstance(value, Encoded):
        return value
    data, names = encode(value).encode(), list[str]()
    for codec in codecs:
        encoded = codec.encode(data)
        if encoded is not None:
            data = encoded
            names.append(codec.name)
    # A value that merely looks encoded is wrapped, to tell it from encoded ones.
    if not names and not _is_coded(value):
        return value
    return Encoded({'$codec': names, 'data': base64.b64encode(data).decode()})


def encode_args(codecs: Sequence[Codec], args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, or of the calls of a batch, with encoded values."""
    encoded = dict(args)
    for name in ('payload', 'input'):
        if name in args:
            encoded[name] = encode_value(codecs, args[name])
    if isinstance(args.get('result'), Mapping) and 'payload' in args['result']:
        encoded['result'] = encode_args(codecs, args['result'])
    if isinstance(args.get('calls'), list):
        encoded['calls'] = [encode_args(codecs, call) for call in args['calls']]
    return encoded


def decode_answer(codecs: Sequence[Codec], answer: Any) -> None:
    """Decodes the values of an answer in place. One that cannot be decoded raises where it is read, and spoils no other."""
    if isinstance(answer, list):
        for one in cast('list[Any]', answer):
            decode_answer(codecs, one)
    elif isinstance(answer, dict):
        fields = cast('dict[str, Any]', answer)
        for name, value in fields.items():
            if name not in _opaque or not _is_coded(value):
                decode_answer(codecs, value)
                continue
            try:
                fields[name] = _decode_value(codecs, value)
            except Exception as error:
                fields[name] = Unreadable(error)


def _is_coded(value: Any) -> bool:
    return isinstance(value, dict) and '$codec' in value


def _decode_value(codecs: Sequence[Codec], value: Mapping[str, Any]) -> Any:
    data = base64.b64decode(value['data'])
    by_name = {codec.name: codec for codec in codecs}
    for name in reversed(value['$codec']):
        if name not in by_name:
            raise LookupError(f'the value is encoded by {name}: Muster needs this codec, too')
        data = by_name[name].decode(data)
    return json.loads(data)
