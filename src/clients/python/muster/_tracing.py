"""Spans of calls and attempts, if the optional OpenTelemetry API is installed."""

from __future__ import annotations

import importlib
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult

from ._errors import MusterError, text_of


def _installed() -> tuple[Any, Any]:
    """Returns OpenTelemetry's modules for traces and contexts; None for each if the API is not installed."""
    try:
        return importlib.import_module('opentelemetry.trace'), importlib.import_module('opentelemetry.context')
    except ImportError:
        return None, None


_trace, _context = _installed()
_tracer_name = 'muster-client'

_messaging = {
    'message.send': ('send', 'PRODUCER'),
    'task.submit': ('send', 'PRODUCER'),
    'message.recv': ('receive', 'CLIENT'),
    'message.complete': ('settle', 'CLIENT'),
    'message.nack': ('settle', 'CLIENT'),
}
"""Calls that are operations of https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/"""


class TraceContext(NamedTuple):
    """The trace of a call, as in the headers of W3C Trace Context."""

    traceparent: str | None = None
    tracestate: str | None = None

    def headers(self) -> dict[str, str]:
        """Returns the headers of a request in this trace."""
        if not self.traceparent:
            return {}
        return {'traceparent': self.traceparent, **({'tracestate': self.tracestate} if self.tracestate else {})}


_nowhere = TraceContext()
_form = re.compile(r'00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})')


def _trace_context_of(span: Any) -> TraceContext:
    found = span.get_span_context()
    if not found.is_valid:
        return _nowhere
    traceparent = f'00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags:02x}'
    return TraceContext(traceparent, found.trace_state.to_header() or None)


def _remote(trace_context: TraceContext) -> Any:
    """Returns the context of the span that a trace context names; None if it names none."""
    match = _form.fullmatch(trace_context.traceparent or '')
    if match is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    state = _trace.TraceState.from_header([trace_context.tracestate]) if trace_context.tracestate else None
    return _trace.SpanContext(trace_id, span_id, True, _trace.TraceFlags(flags), state)


def _behind(trace_context: TraceContext, context: Any) -> Any:
    parent = _remote(trace_context)
    return context if parent is None else _trace.set_span_in_context(_trace.NonRecordingSpan(parent), context)


def _fail(span: Any, error: BaseException) -> None:
    span.set_attribute('error.type', error.code if isinstance(error, MusterError) else type(error).__name__)
    span.set_status(_trace.Status(_trace.StatusCode.ERROR, text_of(error)))
    with suppress(Exception):
        span.record_exception(error)


class CallSpan:
    """The span of a call. This base class is for programs without OpenTelemetry: it records nothing."""

    def __init__(self, trace_context: TraceContext) -> None:
        self.headers = trace_context.headers()

    def answered(self, body: Any) -> None:
        """Records the messages that were sent or received."""


class _RecordedCall(CallSpan):
    def __init__(self, span: Any, trace_context: TraceContext, is_messaging: bool) -> None:
        own = _trace_context_of(span)
        super().__init__(own if own.traceparent else trace_context)
        self._span = span
        self._is_messaging = is_messaging

    def answered(self, body: Any) -> None:
        if not self._is_messaging or not isinstance(body, dict):
            return
        answer = cast('dict[str, Any]', body)
        messages: list[dict[str, Any]] = answer.get('messages', [answer])
        if 'messages' in answer:
            self._span.set_attribute('messaging.batch.message_count', len(messages))
        else:
            self._span.set_attribute('messaging.message.id', answer.get('messageId') or answer['id'])
        for message in messages:
            sent = _remote(TraceContext(message.get('traceparent'), message.get('tracestate')))
            if sent is not None:
                self._span.add_link(sent)


@contextmanager
def in_call_span(name: str, args: Mapping[str, Any], url: SplitResult, trace_context: TraceContext) -> Generator[CallSpan]:
    """Opens a span for a call, as a child of the span that `trace_context` names or else of the active span."""
    if _trace is None:
        yield CallSpan(trace_context)
        return
    operation, kind = _messaging.get(name, (None, 'CLIENT'))
    port = url.port or (443 if url.scheme == 'https' else 80)
    attributes: dict[str, Any] = {'server.address': url.hostname or '', 'server.port': port}
    span_name = name
    if operation is not None:
        verb = name.partition('.')[2]
        span_name = _span_name(verb, args.get('mailboxId'))
        attributes.update(_of_message(verb, operation, args.get('mailboxId'), args.get('messageId')))
    with _trace.get_tracer(_tracer_name).start_as_current_span(
        span_name,
        _behind(trace_context, _context.get_current()),
        kind=_trace.SpanKind[kind],
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield _RecordedCall(span, trace_context, operation is not None)
        except BaseException as error:
            _fail(span, error)
            raise


def _span_name(verb: str, mailbox_id: Any) -> str:
    return verb if mailbox_id is None else f'{verb} {mailbox_id}'


def _of_message(verb: str, operation: str, mailbox_id: Any, message_id: Any) -> dict[str, str]:
    attributes = {
        'messaging.system': 'muster',
        'messaging.operation.name': verb,
        'messaging.operation.type': operation,
    }
    if mailbox_id is not None:
        attributes['messaging.destination.name'] = str(mailbox_id)
    if message_id is not None:
        attributes['messaging.message.id'] = str(message_id)
    return attributes


class Attempt:
    """The span of an attempt, if any. It continues the trace of the message's send, and is linked to it."""

    def __init__(self, message: Any) -> None:
        self.trace_context = TraceContext(message.traceparent, message.tracestate)
        """The trace for messages that the attempt publishes: its span, or else the trace of the message's send"""
        self._span: Any = None
        if _trace is None:
            return
        sent = _remote(self.trace_context)
        self._span = _trace.get_tracer(_tracer_name).start_span(
            _span_name('process', message.mailbox_id),
            _behind(self.trace_context, _context.Context()),
            kind=_trace.SpanKind.CONSUMER,
            attributes={
                **_of_message('process', 'process', message.mailbox_id, message.id),
                'muster.message.attempt': message.attempt,
            },
            links=[] if sent is None else [_trace.Link(sent)],
        )
        own = _trace_context_of(self._span)
        if own.traceparent:
            self.trace_context = own

    def active(self) -> AbstractContextManager[Any]:
        """Makes the span the active one during a `with` block."""
        if self._span is None:
            return nullcontext()
        manager: AbstractContextManager[Any] = _trace.use_span(
            self._span, record_exception=False, set_status_on_exception=False
        )
        return manager

    def failed(self, error: BaseException) -> None:
        """Records the error."""
        if self._span is not None:
            _fail(self._span, error)

    def end(self) -> None:
        """Ends the span, once."""
        span, self._span = self._span, None
        if span is not None:
            span.end()
