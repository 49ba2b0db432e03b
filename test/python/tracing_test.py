"""Spans of calls and attempts, with the OpenTelemetry API if it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import unittest
import uuid
from contextlib import contextmanager
from typing import Any

from muster import AsyncMuster, AsyncWorker, Worker
from support import ServerTest

is_installed = importlib.util.find_spec('opentelemetry') is not None
SENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'


def at_second(message: Any, result: Any) -> Any:
    """Fails in the first attempt, and returns the result in the second."""
    if message.attempt == 1:
        raise ValueError('not yet')
    return result


def recorder() -> tuple[Any, list[Any]]:
    """Returns a tracer provider for the API, and the list of its spans that have ended."""
    from opentelemetry import context as contexts
    from opentelemetry import trace

    ended: list[Any] = []
    ids = itertools.count(1)

    class Span(trace.NonRecordingSpan):
        def __init__(self, name: str, context: Any, kind: Any, attributes: Any, links: Any) -> None:
            self.name, self.kind, self.attributes, self.links = name, kind, dict(attributes or {}), list(links or [])
            parent = trace.get_current_span(context).get_span_context()
            self.parent = parent if parent.is_valid else None
            trace_id = parent.trace_id if parent.is_valid else uuid.uuid4().int
            state = parent.trace_state if parent.is_valid else None
            self.context = trace.SpanContext(trace_id, next(ids), False, trace.TraceFlags(1), state)
            self.status = trace.Status()
            super().__init__(self.context)

        def set_attribute(self, key: str, value: Any) -> None:
            self.attributes[key] = value

        def set_status(self, status: Any, description: Any = None) -> None:
            self.status = status

        def add_link(self, context: Any, attributes: Any = None) -> None:
            self.links.append(trace.Link(context, attributes))

        def end(self, end_time: Any = None) -> None:
            ended.append(self)

    class Tracer(trace.Tracer):
        def start_span(self, name: str, context: Any = None, kind: Any = trace.SpanKind.INTERNAL, attributes: Any = None, links: Any = None, **_: Any) -> Any:
            return Span(name, contexts.get_current() if context is None else context, kind, attributes, links)

        @contextmanager
        def start_as_current_span(self, name: str, context: Any = None, kind: Any = trace.SpanKind.INTERNAL, attributes: Any = None, links: Any = None, **_: Any) -> Any:
            span = self.start_span(name, context, kind, attributes, links)
            with trace.use_span(span, end_on_exit=True):
                yield span

    class Provider(trace.TracerProvider):
        def get_tracer(self, *_: Any, **__: Any) -> Any:
            return Tracer()

    return Provider(), ended


@unittest.skipUnless(is_installed, 'without OpenTelemetry')
class Spans(ServerTest):
    @classmethod
    def setUpClass(cls) -> None:
        from opentelemetry import trace

        provider, cls.ended = recorder()
        trace.set_tracer_provider(provider)
        cls.tracer = trace.get_tracer('agent')

    def spans(self, name: str, trace_id: int) -> list[Any]:
        return [span for span in self.ended if span.name == name and span.context.trace_id == trace_id]

    def judge(self, done: str, result: Any, agent: Any, sent_id: str) -> None:
        """Checks the message's trace, from the agent's span to the span that published the result."""
        trace_id = agent.get_span_context().trace_id
        (send,) = self.spans(f'send {self.mailbox_id}', trace_id)
        self.assertEqual(send.parent.span_id, agent.get_span_context().span_id)
        self.assertEqual(send.kind.name, 'PRODUCER')
        self.assertEqual(send.attributes['messaging.message.id'], sent_id)
        self.assertEqual(send.attributes['messaging.operation.type'], 'send')
        first, second = self.spans(f'process {self.mailbox_id}', trace_id)
        for attempt in (first, second):
            self.assertEqual(attempt.parent.span_id, send.context.span_id)
            self.assertEqual([link.context.span_id for link in attempt.links], [send.context.span_id])
            self.assertEqual(attempt.kind.name, 'CONSUMER')
        self.assertEqual([attempt.attributes['muster.message.attempt'] for attempt in (first, second)], [1, 2])
        self.assertEqual([attempt.status.status_code.name for attempt in (first, second)], ['ERROR', 'UNSET'])
        self.assertEqual(first.attributes['error.type'], 'ValueError')
        (inside,) = self.spans(f'send {done}', trace_id)
        self.assertEqual(inside.parent.span_id, second.context.span_id)
        (complete,) = self.spans('complete', trace_id)
        self.assertEqual(complete.parent.span_id, second.context.span_id)
        self.assertEqual(result.traceparent, f'00-{trace_id:032x}-{complete.context.span_id:016x}-01')

    def result(self, done: str) -> Any:
        """Receives the message that the worker's completion published."""
        args = {'mailbox_id': done, 'scope_id': self.scope_id, 'holder': 'h', 'holder_session': 's'}
        claims = [self.muster.message.recv(**args, wait_seconds=10) for _ in range(2)]
        (found,) = [claim for claim in claims if claim is not None and claim.payload == 'result']
        return found

    def test_lead_from_a_send_over_two_attempts_to_the_result(self) -> None:
        done = self.muster.mailbox.create(name=f'done-{uuid.uuid4()}').id

        def handle(message: Any, _task: Any) -> str:
            at_second(message, None)
            self.muster.message.send(mailbox_id=done, scope_id=self.scope_id, payload='on the way')
            return 'result'

        with self.tracer.start_as_current_span('agent') as agent:
            sent = self.muster.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
            box = {'mailbox_id': self.mailbox_id}
            with Worker(self.muster, box, handle, results_to={'mailbox_id': done}, concurrency=4):
                ended = self.muster.message.view(message_id=sent.id, wait_seconds=20)
        self.assertEqual((ended.state, ended.attempts), ('ACKED', 2))
        self.judge(done, self.result(done), agent, sent.id)
        self.assertEqual(len(self.spans('message.view', agent.get_span_context().trace_id)), 1)

    def test_lead_through_an_asyncio_program(self) -> None:
        done = self.muster.mailbox.create(name=f'done-{uuid.uuid4()}').id

        async def program() -> Any:
            async with AsyncMuster() as muster:

                async def handle(message: Any, _task: Any) -> str:
                    at_second(message, None)
                    await muster.message.send(mailbox_id=done, scope_id=self.scope_id, payload='on the way')
                    return 'result'

                with self.tracer.start_as_current_span('agent') as agent:
                    send = muster.message.send
                    sent = await send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
                    box = {'mailbox_id': self.mailbox_id}
                    async with AsyncWorker(muster, box, handle, results_to={'mailbox_id': done}):
                        await muster.message.view(message_id=sent.id, wait_seconds=20)
                return agent, sent.id

        agent, sent_id = asyncio.run(program())
        self.judge(done, self.result(done), agent, sent_id)

    def test_of_receives_and_refusals(self) -> None:
        with self.tracer.start_as_current_span('agent') as agent:
            self.send(1, 2)
            args = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id, 'holder': 'h', 'holder_session': 's'}
            received = self.muster.message.recv(**args, max=10)
            self.fails('MESSAGE_NOT_FOUND', lambda: self.muster.message.view(message_id=uuid.uuid4()))
        trace_id = agent.get_span_context().trace_id
        (batch,) = self.spans('batch', trace_id)
        (recv,) = self.spans(f'recv {self.mailbox_id}', trace_id)
        assert received is not None
        self.assertEqual(recv.attributes['messaging.batch.message_count'], len(received.messages))
        self.assertEqual([link.context.span_id for link in recv.links], [batch.context.span_id] * 2)
        (refused,) = self.spans('message.view', trace_id)
        self.assertEqual(refused.attributes['error.type'], 'MESSAGE_NOT_FOUND')


@unittest.skipIf(is_installed, 'with OpenTelemetry')
class Without(ServerTest):
    def test_a_worker_hands_the_trace_of_a_message_on_to_its_result(self) -> None:
        done = self.muster.mailbox.create(name=f'done-{uuid.uuid4()}').id
        send = self.muster.call.message.send(mailbox_id=self.mailbox_id, scope_id=self.scope_id, payload=1)
        (result,) = self.muster.batch([send], traceparent=SENT, tracestate='a=1')
        box = {'mailbox_id': self.mailbox_id}
        with Worker(self.muster, box, lambda *_: 'result', results_to={'mailbox_id': done}):
            self.assertEqual(self.state(result.answer.id, 20), 'ACKED')
        args = {'mailbox_id': done, 'scope_id': self.scope_id, 'holder': 'h', 'holder_session': 's'}
        claim = self.muster.message.recv(**args)
        assert claim is not None
        self.assertEqual((claim.traceparent, claim.tracestate), (SENT, 'a=1'))

    def test_a_call_takes_the_trace_that_it_belongs_to(self) -> None:
        args: dict[str, Any] = {'mailbox_id': self.mailbox_id, 'scope_id': self.scope_id, 'payload': 1}
        trace = {'traceparent': SENT, 'tracestate': 'a=1'}

        async def program() -> list[str]:
            async with AsyncMuster() as muster:
                sent = await muster.message.send(**args, **trace)
                (batched,) = await muster.batch([muster.call.message.send(**args)], **trace)
                async with muster.atomic(**trace) as t:
                    planned = t.message.send(**args)
                return [sent.id, batched.answer.id, planned.answer.id]

        with self.muster.atomic(**trace) as t:
            planned = t.message.send(**args)
        ids = [self.muster.message.send(**args, **trace).id, planned.answer.id, *asyncio.run(program())]
        for message_id in ids:
            found = self.muster.message.view(message_id=message_id)
            self.assertEqual((found.traceparent, found.tracestate), (SENT, 'a=1'))
        untraced = self.muster.message.send(**args)
        self.assertIsNone(self.muster.message.view(message_id=untraced.id).traceparent)


if __name__ == '__main__':
    unittest.main()
