"""Codecs, which compress or encrypt payloads, inputs and results, or store them elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, Union, cast

from ._arguments import ABSENT, encode, text
from ._errors import UnreadableValue
from ._json import is_opaque, loads
from ._record import Unreadable

_coded = {'payload': 'mailboxId', 'result': 'mailboxId', 'outcome': 'messageId'}
"""The fields with encoded values, and the field that tells their records from others: those of events have neither."""


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


class SealingCodec(Protocol):
    """A codec that proves where a value comes from, as encryption does.

    It must encode every value, and a value that it has not encoded cannot be read.
    """

    @property
    def name(self) -> str:
        """Stored with each value, so that readers know how to decode it."""
        ...

    @property
    def seals(self) -> Literal[True]:
        """Tells it from other codecs."""
        ...

    def encode(self, data: bytes, places: Sequence[str]) -> bytes:
        """Returns the encoded bytes.

        Args:
            data: the value's JSON text, or the bytes of the codec before
            places: where the value may be read: `work/<mailboxId>/<workKey>`, or `mailbox/<mailboxId>` without a work_key and
                in schedules, `task/<groupId>/<taskKey>`, `result/<messageId>`; empty if nobody knows yet, as with an id that
                an atomic batch makes
        """
        ...

    def decode(self, data: bytes, places: Sequence[str]) -> bytes:
        """Returns the bytes that were encoded.

        Args:
            data: the encoded bytes
            places: where the value is read; one of those of `encode` must be among them
        """
        ...


AnyCodec = Union[Codec, SealingCodec]


class Encoded(dict[str, Any]):
    """A value already encoded, so that all attempts of a call send the same bytes."""


def check_codecs(codecs: Sequence[AnyCodec]) -> None:
    """Raises ValueError if two codecs have one name."""
    names = [codec.name for codec in codecs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'two codecs are named {name}')


def encode_args(codecs: Sequence[AnyCodec], args: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call, or of the calls of a batch, with values encoded."""
    args = {name: value for name, value in args.items() if value is not ABSENT}
    encoded = dict(args)
    if 'payload' in args:
        encoded['payload'] = _encode_value(codecs, args['payload'], _places_in_mailbox(args))
    # A receiver takes the payload of a task without input for one that nobody has sealed.
    if 'input' in args or ('taskKey' in args and any(_seals(codec) for codec in codecs)):
        encoded['input'] = _encode_value(codecs, args.get('input'), _places_in_group(args))
    result = args.get('result')
    if isinstance(result, Mapping) and 'payload' in result:
        sent = cast('Mapping[str, Any]', result)
        places = [*_places_of_result(args.get('messageId')), *_places_in_mailbox(sent)]
        encoded['result'] = {**sent, 'payload': _encode_value(codecs, sent['payload'], places)}
    if isinstance(args.get('calls'), list):
        encoded['calls'] = [encode_args(codecs, call) for call in args['calls']]
    return encoded


def decode_answer(codecs: Sequence[AnyCodec], answer: Any) -> None:
    """Decodes the values of an answer in place. A value that cannot be decoded raises when it is read."""
    if isinstance(answer, list):
        for one in cast('list[Any]', answer):
            decode_answer(codecs, one)
    elif isinstance(answer, dict):
        fields = cast('dict[str, Any]', answer)
        for name, value in fields.items():
            if not is_opaque(name, fields.__contains__):
                decode_answer(codecs, value)
            elif name in _coded and _coded[name] in fields and (value is not None or name == 'payload'):
                try:
                    fields[name] = _decode_value(codecs, value, _places_read(name, fields))
                except Exception as error:
                    fields[name] = Unreadable(error)


def _seals(codec: AnyCodec) -> bool:
    return bool(getattr(codec, 'seals', False))


def _encode_value(codecs: Sequence[AnyCodec], value: Any, places: Sequence[str]) -> Any:
    """Returns a value in the form in which it is sent."""
    if isinstance(value, Encoded):
        return value
    data, names = encode(value).encode(), list[str]()
    for codec in codecs:
        encoded = (
            cast('SealingCodec', codec).encode(data, places) if _seals(codec) else cast('Codec', codec).encode(data)
        )
        if encoded is not None:
            data = encoded
            names.append(codec.name)
        elif _seals(codec):
            raise ValueError(f'the codec {codec.name} seals values, and has left one as it was')
    # Wrap a value that merely looks encoded, so that readers get it back unchanged.
    if not names and not _looks_coded(value):
        return value
    return Encoded({'$codec': names, 'data': base64.b64encode(data).decode()})


def _decode_value(codecs: Sequence[AnyCodec], value: Any, places: Sequence[str]) -> Any:
    names = _names_in(value)
    used = _codecs_of(codecs, names or ())
    for codec in codecs:
        if _seals(codec) and codec not in used:
            raise ValueError(f'the value is not encoded by {codec.name}, as every value must be')
    if names is None:
        return value
    step = 'Base64'
    try:
        data = base64.b64decode(value['data'], validate=True)
        for codec in reversed(used):
            step = codec.name
            data = cast('SealingCodec', codec).decode(data, places) if _seals(codec) else cast('Codec', codec).decode(data)
        step = 'JSON'
        return loads(data.decode())
    except UnreadableValue:
        raise
    except Exception as cause:
        # The message becomes a last_error. Only the cause, which stays here, may say what the codec has found.
        raise ValueError(f'the value cannot be decoded: {step} failed') from cause


def _looks_coded(value: Any) -> bool:
    return isinstance(value, dict) and '$codec' in value


def _names_in(value: Any) -> list[str] | None:
    """Returns the names of the codecs that have encoded a value; None for a plain one."""
    if not _looks_coded(value):
        return None
    names = cast('list[str]', value['$codec'])
    is_list = isinstance(value['$codec'], list) and all(isinstance(name, str) for name in cast('list[Any]', names))
    if is_list and isinstance(value.get('data'), str) and len(value) == 2:
        return names
    raise ValueError('the value looks encoded, but not as a client does it')


def _codecs_of(codecs: Sequence[AnyCodec], names: Sequence[str]) -> list[AnyCodec]:
    """Returns the codecs of these names. Each may be named once, in the order in which the client has them."""
    known = [codec.name for codec in codecs]
    for name in names:
        if name not in known:
            raise LookupError(f'the value is encoded by {name[:64]}: Muster needs this codec, too')
    found = [codec for codec in codecs if codec.name in names]
    if [codec.name for codec in found] != list(names):
        raise ValueError('the value names its codecs twice, or in another order than Muster has them')
    return found


def _places_in_mailbox(record: Mapping[str, Any]) -> list[str]:
    """Returns where a payload may be read. Without a workKey, anywhere in its mailbox."""
    mailbox_id, work_key = _id_of(record.get('mailboxId')), record.get('workKey')
    if mailbox_id is None:
        return []
    return [f'mailbox/{mailbox_id}' if work_key is None else f'work/{mailbox_id}/{text(work_key)}']


def _places_in_group(record: Mapping[str, Any]) -> list[str]:
    group_id, task_key = _id_of(record.get('groupId')), record.get('taskKey')
    return [] if group_id is None or task_key is None else [f'task/{group_id}/{text(task_key)}']


def _places_of_result(message_id: Any) -> list[str]:
    id = _id_of(message_id)
    return [] if id is None else [f'result/{id}']


def _places_read(name: str, record: Mapping[str, Any]) -> list[str]:
    """Returns where a value of a record is read."""
    if name != 'payload':
        return _places_of_result(record.get('id' if name == 'result' else 'messageId'))
    # A schedule's messages get workKeys of their own.
    anywhere = _places_in_mailbox({**record, 'workKey': None})
    return [*_places_in_mailbox(record), *anywhere, *_places_in_group(record)]


def _id_of(value: Any) -> str | None:
    return None if value is None or isinstance(value, Mapping) else text(value).lower()
