"""The money of workers."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from muster import (
    AsyncMuster,
    AsyncTask,
    AsyncWorker,
    Budget,
    Claim,
    ClaimLost,
    Muster,
    MusterError,
    Reservation,
    RetryLater,
    Settlement,
    Task,
)
from muster._calls import BUDGET_RESERVE
from muster._giving_back import given_back
from muster._worker.spending import Spender, reserve
from support import Proxy, WorkerTest, until

logging.disable(logging.ERROR)


class Spending(WorkerTest):
    def budget(self, limit_minor: int) -> Budget:
        return self.muster.budget.create(name=f'b-{uuid.uuid4()}', currency='eur', scale=2, limit_minor=limit_minor)

    def figures(self, budget: Budget) -> tuple[str, str, str, str]:
        now = self.muster.budget.view(budget_id=budget.id).balances
        return now.reserved, now.settled, now.available, now.overdrawn

    def test_settles_what_the_work_has_cost_and_does_not_repeat_it(self) -> None:
        budget = self.budget(30)
        settlements: list[Settlement] = []
        refused: list[str] = []

        def handle(message: Claim, task: Task) -> None:
            try:
                with task.reserve(budget.name, 12) as reservation:
                    settlements.append(reservation.settle(message.payload))
            except MusterError as error:
                refused.append(error.code)

        self.send(16, 16, 16)
        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 3)
        self.assertEqual(settlements, [Settlement('16', '0'), Settlement('16', '2')])
        self.assertEqual((refused, worker.counts.received), (['INSUFFICIENT_BUDGET'], 3))
        self.assertEqual(self.figures(budget), ('0', '30', '0', '2'))

    def test_waits_out_an_outage_at_reserve_settle_void_and_units(self) -> None:
        budget = self.budget(1000)
        allowance = self.muster.allowance.create(name=f'a-{uuid.uuid4()}', units_limit=9, window_seconds=31_536_000)
        proxy = Proxy()
        self.addCleanup(proxy.close)
        reservations: list[Reservation] = []

        def outage() -> None:
            def end() -> None:
                proxy.is_away = False

            proxy.is_away = True
            proxy.cut()
            threading.Timer(0.4, end).start()

        def handle(message: Claim, task: Task) -> None:
            outage()
            reservations.append(task.reserve(budget.name, 12))
            outage()
            task.units(allowance.name, 2)
            outage()
            reservations[0].settle(9)
            proxy.drop_answers = 1
            reservations.append(task.reserve(budget.id, 5))
            outage()
            reservations[1].void()
            task.reserve(budget.id, 7)
            outage()

        self.send('x')
        worker = self.worker(handle, Muster(proxy.url, attempts=1))
        until(lambda: worker.counts.completed == 1)
        self.assertEqual((worker.counts.received, self.figures(budget)), (1, ('0', '16', '984', '0')))
        self.assertEqual([list(reservation.earlier) for reservation in reservations], [[], []])
        self.assertEqual(self.muster.allowance.view(allowance_id=allowance.id).used_units, 2)

    def reserving_late(self, muster: Muster) -> tuple[threading.Event, threading.Event]:
        """Reserves are made at once, and answered later. Returns the events of both."""
        made, answered = threading.Event(), threading.Event()
        request = muster.request

        def late(endpoint: Any, *args: Any, **options: Any) -> Any:
            answer = request(endpoint, *args, **options)
            if endpoint is BUDGET_RESERVE:
                made.set()
                answered.wait()
            return answer

        patched = patch.object(muster, 'request', late)
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(answered.set)
        return made, answered

    def test_gives_back_what_a_cancelled_message_was_reserving(self) -> None:
        self.reserve_and_leave(self.budget(100), lambda worker, message: self.muster.message.cancel(message_id=message))

    def test_leaves_what_a_closed_worker_was_reserving_to_the_next_attempt(self) -> None:
        budget = self.budget(100)
        self.reserve_and_leave(budget, lambda worker, _: worker._close_soon(0), left='12')

        def handle(_: Claim, task: Task) -> None:
            task.reserve(budget.id, 12).settle(9)

        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 1)
        self.assertEqual(self.figures(budget), ('0', '9', '91', '0'))

    def reserve_and_leave(self, budget: Budget, end: Callable[[Any, str], object], left: str = '0') -> None:
        """The handler of an asyncio worker leaves while it reserves."""
        is_over = threading.Event()

        async def handle(_: Claim, task: AsyncTask) -> None:
            try:
                await task.reserve(budget.id, 12)
            finally:
                is_over.set()

        async def main() -> None:
            async with AsyncMuster() as muster:
                made, answered = self.reserving_late(muster.sync)
                async with AsyncWorker(muster, {'mailbox_id': self.mailbox_id}, handle, close_on_signals=False) as worker:
                    [message] = self.send('x')
                    await asyncio.to_thread(made.wait)
                    end(worker, message)
                    await asyncio.to_thread(is_over.wait)
                    await worker.close(0)
                    self.assertEqual(self.figures(budget)[0], '12')
                    answered.set()
                    while await asyncio.to_thread(given_back):
                        pass
                    self.assertEqual(self.figures(budget)[:2], (left, '0'))

        asyncio.run(main())

    def test_completes_what_somebody_has_voided_meanwhile(self) -> None:
        budget = self.budget(1000)

        def handle(message: Claim, task: Task) -> None:
            held = task.reserve(budget.name, 12).record
            self.muster.budget.void(budget_id=budget.id, reservation_id=held.id, work_key='a person')

        self.send('x')
        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 1)
        self.assertEqual((worker.counts.received, self.figures(budget)), (1, ('0', '0', '1000', '0')))

    def died(self, budget: Budget, amount: int, then: Callable[[str], object] = lambda reservation_id: None) -> None:
        """Makes an attempt that reserves, does something, and dies. A nack replaces the end of its lease."""
        claim = self.muster.message.recv(
            mailbox_id=self.mailbox_id, scope_id=self.scope_id, holder='dead', holder_session='s'
        )
        assert claim is not None
        if amount > 0:
            held = self.muster.budget.reserve(
                budget_id=budget.id,
                scope_id=self.scope_id,
                holder='dead',
                amount_minor=amount,
                work_key=f'{claim.id}/1/{claim.attempt}',
            )
            then(held.id)
        self.muster.message.nack(message_id=claim.id, token=claim.token, retry=True)

    def told(self, budget: Budget, cost: int) -> list[str]:
        """Runs a handler that reserves 12 and settles. Returns the reservations of earlier attempts that it finds."""
        reservations: list[Reservation] = []

        def handle(message: Claim, task: Task) -> None:
            reservation = task.reserve(budget.name, 12)
            reservations.append(reservation)
            reservation.settle(cost)

        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 1)
        (reservation,) = reservations
        return [
            f'{one.holder} {(one.work_key or "")[37:]} {one.state} {one.settled_minor}/{one.amount_minor}'
            for one in reservation.earlier
        ]

    def test_an_attempt_that_never_said_what_it_cost_goes_on(self) -> None:
        budget = self.budget(1000)
        self.send('x')
        self.died(budget, 12)
        self.assertEqual(self.told(budget, 9 + 9), ['dead 1/1 ACTIVE 0/12'])
        self.assertEqual(self.figures(budget), ('0', '18', '982', '0'))

    def test_an_attempt_that_settled_is_followed_by_a_new_reservation(self) -> None:
        budget = self.budget(1000)

        def settles(amount_minor: int) -> Callable[[str], object]:
            return lambda reservation_id: self.muster.budget.settle(
                budget_id=budget.id,
                reservation_id=reservation_id,
                amount_minor=amount_minor,
                work_key=f'{reservation_id}/1',
                overrun=True,
            )

        self.send('x')
        self.died(budget, 12, settles(5))
        self.died(budget, 0)
        self.died(budget, 12, settles(16))
        self.assertEqual(self.told(budget, 0), ['dead 1/1 ACTIVE 5/12', 'dead 1/3 SETTLED 16/12'])
        self.assertEqual(self.figures(budget), ('0', '21', '979', '0'))

    def test_an_attempt_that_reserved_another_amount_keeps_it(self) -> None:
        budget = self.budget(1000)
        self.send('x')
        self.died(budget, 30)
        self.assertEqual(self.told(budget, 9), ['dead 1/1 ACTIVE 0/30'])
        self.assertEqual(self.figures(budget), ('30', '9', '961', '0'))

    def test_what_was_given_back_is_of_no_account(self) -> None:
        budget = self.budget(1000)
        told: list[int] = []

        def handle(message: Claim, task: Task) -> None:
            told.append(len(task.reserve(budget.name, 10).earlier))
            if message.attempt < 3:
                raise RetryLater(0)

        self.send('x')
        worker = self.worker(handle)
        until(lambda: worker.counts.completed == 1)
        self.assertEqual((told, self.figures(budget)), ([0, 0, 0], ('0', '10', '990', '0')))

    def test_an_attempt_whose_claim_is_lost_leaves_its_reservation_to_the_next(self) -> None:
        budget = self.budget(1000)

        class Lost(Spender):
            is_over = True

        spender = Lost(self.muster, self.scope_id, 'h', 'work')
        with self.assertRaises(ClaimLost), reserve(spender, budget.id, 12):
            raise ClaimLost('the lease has ended')
        self.assertEqual(self.figures(budget), ('12', '0', '988', '0'))
