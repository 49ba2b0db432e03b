import { type Api, Failure } from './api.ts';
import { type Action, once } from './ask.ts';
import { count, duration, momentText, money, plural, words } from './format.ts';
import type { Allowance, Budget, BudgetView, Hold, Limits, Pool, Voided, Waiter } from './records.ts';

/** The actions on budgets, allowances and pools. */

const minorUnits = (text: string, scale: number): string => {
  const [whole = '', fraction = ''] = text.replaceAll(',', '').split('.');
  return `${whole}${fraction.padEnd(scale, '0')}`.replace(/^0+(?=\d)/, '');
};

/** The lowest limit at which a budget is no longer overdrawn. */
const covering = ({ reserved, settled, overdrawn }: Budget['balances']): string =>
  String(BigInt(reserved) + BigInt(settled) + BigInt(overdrawn));

const limit: Action = async (api, { id = '' }) => {
  const { name, currency, scale, balances } = await api.get<Budget>(`/budgets/${id}?limit=1`);
  const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
  // Commas only where the console writes them: "1,50" is not 150.
  const form = new RegExp(`^(\\d+|\\d{1,3}(,\\d{3})+)${scale === 0 ? '' : `(\\.\\d{1,${scale}})?`}$`);
  return {
    title: `Change the limit of budget ${name}?`,
    lines: [
      `It is ${of(balances.limit)}: ${of(balances.settled)} settled, ${of(balances.reserved)} reserved, ${of(balances.available)} available.`,
      ...(balances.overdrawn === '0'
        ? []
        : [
            `It is overdrawn by ${of(balances.overdrawn)}: ${of(covering(balances))} covers that and allows reservations again.`,
          ]),
      'From then on so much can be reserved; never less than what is settled and reserved.',
      once,
    ],
    fields: [
      {
        name: 'limit',
        label: `New limit in ${currency}`,
        value: money(balances.limit, scale),
        isNumber: true,
        check: (text) =>
          form.test(text) && minorUnits(text, scale).length <= 18
            ? ''
            : `Enter an amount such as ${money('123456', scale)}, with at most ${plural(scale, 'decimal')} and 18 digits.`,
      },
    ],
    confirm: 'Change the limit',
    act: async (values) => {
      const limitMinor = minorUnits(values['limit'] ?? '', scale);
      const changed = await api
        .send<Budget>('PATCH', `/budgets/${id}`, { limitMinor })
        .catch(async (error: unknown) => {
          if (!(error instanceof Failure && error.code === 'LIMIT_BELOW_USE')) throw error;
          const { balances: now } = await api.get<Budget>(`/budgets/${id}?limit=1`);
          const [use, all] = [String(BigInt(now.settled) + BigInt(now.reserved)), of(limitMinor)];
          throw error.saying(`${all} is too little: ${of(use)} of it is settled or reserved`);
        });
      const isSame = changed.balances.limit === balances.limit;
      return `The limit is ${of(changed.balances.limit)}, ${of(changed.balances.available)} available: ${isSame ? 'unchanged, no operation' : 'one operation'}.`;
    },
  };
};

/** Raises one of the space's limits. */
const raise: Action = async (api, { id: name = '' }) => {
  const before = (await api.get<Limits>('/limits'))[name as keyof Limits];
  const of = (value: number | null | undefined): string => (value == null ? 'unlimited' : count(value));
  return {
    title: `Raise ${name} of this space?`,
    lines: [
      `It is ${of(before)} now. The new limit applies at once.`,
      'The plan of the organization may grant no more: that is refused, and changes nothing.',
      once,
    ],
    fields: [
      {
        ...{ name: 'limit', label: 'New limit', value: String(2 * (before ?? 0)), isNumber: true },
        check: whole(1, 1_000_000),
      },
    ],
    confirm: 'Raise the limit',
    act: async (values) => {
      const changed = await api.send<Limits>('PUT', '/limits', { [name]: Number(values['limit']) });
      return `It is ${of(changed[name as keyof Limits])}: one operation.`;
    },
  };
};

const whole = (min: number, max: number) => (text: string) =>
  /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
    ? ''
    : `Enter a whole number from ${count(min)} to ${count(max)}.`;

const units: Action = async (api, { id = '' }) => {
  const { name, unitsLimit, usedUnits, windowSeconds, waiting } = await api.get<Allowance>(`/allowances/${id}`);
  return {
    title: `Change the units of allowance ${name}?`,
    lines: [
      `It gives ${plural(unitsLimit, 'unit')} in ${duration(windowSeconds)}, ${count(usedUnits)} used in this window; ${plural(waiting, 'waiter')}.`,
      'At once, also in this window: waiters that fit then are granted in the same step.',
      once,
    ],
    fields: [
      { name: 'units', label: 'Units in each window', value: String(unitsLimit), isNumber: true, check: whole(1, 1e9) },
    ],
    confirm: 'Change the units',
    act: async (values) => {
      const body = { unitsLimit: Number(values['units']) };
      const changed = await api.send<Allowance>('PATCH', `/allowances/${id}`, body);
      return `${plural(changed.unitsLimit, 'unit')} in each window, ${count(changed.availableUnits)} available, ${count(changed.waiting)} waiting.`;
    },
  };
};

const cooldown: Action = async (api, { id = '' }) => {
  const { name, waiting } = await api.get<Allowance>(`/allowances/${id}`);
  return {
    title: `Cool down allowance ${name}?`,
    lines: [
      `Nobody gets units of it for that time: what is consumed meanwhile is refused, and ${plural(waiting, 'waiter')} wait on.`,
      'It cannot be shortened, and never shortens a cooldown that runs.',
      once,
    ],
    fields: [
      { name: 'seconds', label: 'Seconds', value: '60', isNumber: true, check: whole(1, 3600) },
      { name: 'reason', label: 'Reason, shown to all', value: '' },
    ],
    confirm: 'Cool down',
    act: async (values) => {
      const body = { seconds: Number(values['seconds']), reason: values['reason'] ?? '' };
      const { cooldownUntil } = await api.send<Cooldown>('POST', `/allowances/${id}/cooldown`, body);
      return `It is cooling down until ${momentText(cooldownUntil)}.`;
    },
  };
};

const cancelWaiter: Action = async (api, { id = '' }) => {
  const { holder, units: wanted, position, allowanceId } = await api.get<Waiter>(`/allowance-waiters/${id}`);
  const { name } = await api.get<Allowance>(`/allowances/${allowanceId}`);
  return {
    title: `Cancel the wait of ${holder}?`,
    lines: [
      `It waits for ${plural(wanted, 'unit')} of allowance ${name}${position === null ? '' : `, at position ${position}`}.`,
      'It gets no units, and the next in line moves up at once. This cannot be undone: its holder can wait again, at the end of the line.',
      once,
    ],
    confirm: 'Cancel the wait',
    act: async () => {
      const { state } = await api.send<Waiter>('POST', `/allowance-waiters/${id}/cancel`);
      return `It is ${words(state)}: one operation.`;
    },
  };
};

interface Cooldown {
  readonly cooldownUntil: string;
}

/** The budget, and the reservation if it is among the newest 200 that are ACTIVE. */
async function activeOf(api: Api, budgetId: string, id: string) {
  const budget = await api.get<BudgetView>(`/budgets/${budgetId}?state=ACTIVE&limit=200`);
  return { ...budget, reservation: budget.reservations.find((one) => one.id === id) };
}

const voiding: Action = async (api, { id = '', budget: budgetId = '', label = '' }) => {
  const { name, currency, scale, reservation } = await activeOf(api, budgetId, id);
  const of = (minor: string): string => `${money(minor, scale)} ${currency}`;
  const what = reservation
    ? `${of(reservation.remainingMinor)} of ${of(reservation.amountMinor)} are left of what ${reservation.holder} reserved${reservation.overdue ? ', and overdue' : ''}.`
    : `What is left of the reservation of ${label}.`;
  return {
    title: `Void this reservation of budget ${name}?`,
    lines: [
      `${what} They are available again at once.`,
      'It cannot be taken back: what its holder settles of it afterwards is refused, though it may have been spent.',
      once,
    ],
    confirm: 'Void the reservation',
    act: async () => {
      // A fixed key, so that voiding it again changes nothing and returns the first result.
      const body = { reservationId: id, workKey: `console:void:${id}` };
      const { entry, balances } = await api.send<Voided>('POST', `/budgets/${budgetId}/void`, body);
      return `Voided ${of(entry.amountMinor)}: ${of(balances.available)} available. One operation.`;
    },
  };
};

const holdUnits = ({ units }: Pick<Hold, 'units'>, { name }: Pick<Pool, 'name'>): string =>
  `${plural(units, 'unit')} of pool ${name}`;

async function holdOf(api: Api, id: string): Promise<{ readonly hold: Hold; readonly pool: Pool }> {
  const hold = await api.get<Hold>(`/pool-holds/${id}`);
  return { hold, pool: await api.get<Pool>(`/pools/${hold.poolId}`) };
}

const cancelHold: Action = async (api, { id = '' }) => {
  const { hold, pool } = await holdOf(api, id);
  return {
    title: `Cancel the wait of ${hold.holder}?`,
    lines: [
      `It waits for ${holdUnits(hold, pool)}${hold.position === null ? '' : `, at position ${hold.position}`}.`,
      'It gets no units, and the next in line moves up at once. This cannot be undone: its holder can wait again, at the end of the line.',
      once,
    ],
    confirm: 'Cancel the wait',
    act: async () => {
      const { state } = await api.send<Hold>('POST', `/pool-holds/${id}/cancel`);
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const breakHold: Action = async (api, { id = '' }) => {
  const { hold, pool } = await holdOf(api, id);
  return {
    title: `Break the hold of ${hold.holder}?`,
    lines: [
      `It holds ${holdUnits(hold, pool)}, fence ${hold.fence ?? '–'}. Whoever waits gets them at once.`,
      'Its holder does not notice before its next renewal. Break the hold only if you know that the holder has stopped, or if the protected resource refuses smaller fences.',
      once,
    ],
    confirm: 'Break the hold',
    act: async () => {
      const { state } = await api.send<Hold>('POST', `/pool-holds/${id}/release`, { force: true });
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const poolUnits: Action = async (api, { id = '' }) => {
  const { name, units: now, heldUnits, waiting } = await api.get<Pool>(`/pools/${id}`);
  return {
    title: `Change the units of pool ${name}?`,
    lines: [
      `It has ${plural(now, 'unit')}, ${count(heldUnits)} held; ${plural(waiting, 'hold')} wait.`,
      'At once: waiting holds that fit then are granted in the same step. With fewer than are held nothing is taken away.',
      once,
    ],
    fields: [{ name: 'units', label: 'Units', value: String(now), isNumber: true, check: whole(1, 1e6) }],
    confirm: 'Change the units',
    act: async (values) => {
      const body = { units: Number(values['units']) };
      const changed = await api.send<Pool>('PATCH', `/pools/${id}`, body);
      return `${plural(changed.units, 'unit')}, ${count(changed.availableUnits)} available, ${count(changed.waiting)} waiting.`;
    },
  };
};

/** By the name in a button's `data-act`. */
export const resourceActions: Readonly<Record<string, Action>> = {
  raise,
  limit,
  units,
  cooldown,
  cancelWaiter,
  void: voiding,
  cancelHold,
  breakHold,
  poolUnits,
};
