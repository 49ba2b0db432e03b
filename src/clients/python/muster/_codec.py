"""Codecs, which compress or encrypt payloads, inputs and results, or store them elsewhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from ._arguments import encode
from ._record import Unreadable

_opaque = ('payload', 'input', 'result', 'outcome')


class Codec(Protocol):
    """Transforms payloads, inputs and results on their way to the service and back.

    Passed to `Muster`, it works for sends, reads and workers alike. With several codecs, the first one encodes first.
    """

    @property
    def name(self) -> str:
        """Stored with each value, so that readers know how to decode it."""
        ...

    def encode(self, data: bytes) -> bytes | None:
        """Returns the encoded bytes, or None to leave them unchanged. The first codec gets the value's JSON text."""
        ...

    def decode(self, data: bytes) -> bytes:
        """Returns the bytes that were encoded."""
        ...


class Encoded(dict[str, Any]):
    """A value already encoded, so that all attempts of a call send the same bytes."""


def encode_value(codecs: Sequence[Codec], value: Any) -> Any:
    """Returns a value in the form in which it is sent."""
    if isinstance(value, Encoded):
        return value
    data, names = encode(value).encode(), list[str]()
    for codec in codecs:
        encoded = codec.encode(data)
        if encoded is not None:
            data = encoded
            names.append(codec.name)
    # Wrap a value that merely looks encoded, so that readers get it back unchanged.
    if not names and not _is_coded(value):
        return value
    return Encoded({'$codec': names, 'data': base64.b64encode(data).decode()})


def encode_args(codecs: Sequence[Codec], args: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call, or of the calls of a batch, with values encoded."""
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
    """Decodes the values of an answer in place. A value that cannot be decoded raises when it is read."""
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
