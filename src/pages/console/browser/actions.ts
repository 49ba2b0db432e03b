import { answer } from './answering.ts';
import { type Api, Failure } from './api.ts';
import { type Action, type AskField, once } from './ask.ts';
import { count, momentText, plural, words } from './format.ts';
import { createKey, revokeKey } from './keys.ts';
import { bulkText, passedOverText } from './panels/bulk.ts';
import type { Bulk, Deliveries, Destination, Mailbox, Message, Schedule, Scope } from './records.ts';
import { resourceActions } from './resource-actions.ts';

const perStep = 100;

function each(number: number, noun: string): string {
  return `It counts as ${plural(number, 'operation')}, one for each ${noun}.`;
}

const requeueText =
  'Its attempts start over and it is ready at once. It keeps its id, work key, last error and progress, but not its last result or a deadline that has passed.';

const cancel: Action = async (api, { id = '' }) => {
  const message = await api.get<Message>(`/messages/${id}`);
  const claim =
    message.state === 'CLAIMED'
      ? `${message.holder} holds it: the claim is lost, and its worker’s result will be refused.`
      : `It is ${words(message.state)}: nobody works on it.`;
  return {
    title: 'Cancel this message?',
    lines: [
      `Message ${id}, ${message.attempts} of ${message.maxAttempts} attempts.`,
      claim,
      `Nobody gets it again unless it is requeued. ${once}`,
    ],
    confirm: 'Cancel the message',
    act: async () => {
      const { state, reason } = await api.send<Message>('POST', `/messages/${id}/cancel`);
      return `It is ${words(state)}${reason === null ? '' : ` (${words(reason)})`}: one operation.`;
    },
  };
};

const release: Action = async (api, { id = '' }) => {
  const { state, holder, attempts, maxAttempts } = await api.get<Message>(`/messages/${id}`);
  const isLast = attempts >= maxAttempts;
  return {
    title: 'Take the claim of this message away?',
    lines: [
      state === 'CLAIMED'
        ? `${holder} holds message ${id}, attempt ${attempts} of ${maxAttempts}: its claim is lost, and its result will be refused.`
        : `Message ${id} is ${words(state)}: nobody holds it any more.`,
      isLast
        ? 'It was the last attempt: the message fails, and can be requeued.'
        : 'It goes back for another attempt, after the pause of its mailbox.',
      once,
    ],
    confirm: 'Take the claim away',
    act: async () => {
      const { state } = await api.send<Message>('POST', `/messages/${id}/release`);
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const requeue: Action = async (api, { id = '' }) => {
  const message = await api.get<Message>(`/messages/${id}`);
  return {
    title: 'Requeue this message?',
    lines: [`Message ${id}, ${words(message.state)} after ${plural(message.attempts, 'attempt')}.`, requeueText, once],
    confirm: 'Requeue the message',
    act: async () => {
      const { state } = await api.send<Message>('POST', `/messages/${id}/requeue`);
      return `It is ${words(state)}: one operation.`;
    },
  };
};

type Delivery = Deliveries['deliveries'][number];

interface Results {
  readonly results: readonly {
    readonly status: number;
    readonly body: { readonly error?: { readonly message: string } } | null;
  }[];
}

/** Makes one call for each id, in one request, so it changes exactly these messages even if more would match. */
async function callEach(api: Api, call: string, ids: readonly string[], done: string): Promise<string> {
  const calls = ids.map((messageId) => ({ call, messageId }));
  const { results } = await api.send<Results>('POST', '/batch', { calls });
  const refused = results.filter(({ status }) => status >= 300);
  const accepted = results.length - refused.length;
  const why = refused[0]?.body?.error?.message;
  const text = `${done} ${plural(accepted, 'message')}: ${plural(accepted, 'operation')}.`;
  return refused.length === 0 ? text : `${text} ${plural(refused.length, 'message')} refused: ${why}.`;
}

const requeueThese: Action = async (api, { ids = '', error }) => {
  const list = ids.split(' ');
  const which = error === undefined ? 'Those' : `Those with the last error “${error}”`;
  return {
    title: `Requeue ${plural(list.length, 'message')}?`,
    lines: [
      `${which} that are on this page, and no others.`,
      'Their attempts start over and they are ready at once. They keep their ids, work keys, last errors and progress.',
      each(list.length, 'message'),
    ],
    confirm: `Requeue ${plural(list.length, 'message')}`,
    act: () => callEach(api, 'message.requeue', list, 'Requeued'),
  };
};

const cancelThese: Action = async (api, { ids = '' }) => {
  const list = ids.split(' ');
  return {
    title: `Cancel ${plural(list.length, 'message')}?`,
    lines: [
      'Only the messages on this page. A message that a worker has claimed meanwhile is cancelled too, and its claim is lost.',
      each(list.length, 'message'),
    ],
    confirm: `Cancel ${plural(list.length, 'message')}`,
    act: () => callEach(api, 'message.cancel', list, 'Cancelled'),
  };
};

const maxField = (value: number): AskField => ({
  name: 'limit',
  label: 'At most, the oldest first',
  value: String(value),
  isNumber: true,
  check: (text) => (/^[1-9]\d{0,6}$/.test(text) ? '' : 'Enter a number from 1 to 9,999,999.'),
});

interface Step {
  readonly nextCursor: string | null;
  readonly requeued?: number;
  readonly cancelled?: number;
  readonly removed?: number;
  readonly passedOver?: Readonly<Record<string, number>>;
}

/** Repeats a call until it has changed `limit` messages or there are no more. */
async function inSteps(
  api: Api,
  path: string,
  body: object,
  { limit, done, report }: { limit: number; done: string; report: (text: string) => void },
): Promise<string> {
  let total = 0;
  let steps = 0;
  let cursor: string | null = null;
  const passedOver: Record<string, number> = {};
  const said = (): string => {
    const over = passedOverText(passedOver);
    return `${done} ${plural(total, 'message')}: ${plural(steps, 'operation')}.${over === '' ? '' : ` Passed over ${over}.`}`;
  };
  try {
    do {
      const max = Math.min(perStep, limit - total);
      const answer: Step = await api.send<Step>('POST', path, { ...body, max, ...(cursor !== null && { cursor }) });
      const changed = answer.cancelled ?? answer.removed ?? answer.requeued ?? 0;
      total += changed;
      if (changed > 0) steps++;
      for (const [code, number] of Object.entries(answer.passedOver ?? {}))
        passedOver[code] = (passedOver[code] ?? 0) + number;
      cursor = answer.nextCursor;
      report(`${done} ${count(total)}${Number.isFinite(limit) ? ` of ${count(limit)}` : ''} so far…`);
    } while (cursor !== null && total < limit);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${said()} Then it was stopped: ${error.text}`;
  }
  return said();
}

/** Work that workers do from then on. */
async function startBulk(api: Api, path: string, body: object): Promise<string> {
  await api.send<Bulk>('POST', `${path}/bulk`, body);
  return 'Started: one operation. Workers go on with it, whether this page is open or not; the page shows how far they are.';
}

const purged =
  'They stay readable and can be requeued until retention removes them. Claimed messages are left alone, and so is what is sent from then on.';
const requeued =
  'Their attempts start over and they are ready at once. They keep their ids, work keys, last errors and progress. Those of decided groups, with a verdict or of cancelled runs stay as they are, and are counted.';

const within = (scope: string | undefined): string =>
  scope === undefined ? '' : ` of run ${scope} and the scopes below it`;

const purge: Action = async (api, { id = '', scope }) => {
  const { name, counts } = await api.get<Mailbox>(`/mailboxes/${id}`);
  const waiting = counts.ready + counts.delayed + counts.blocked;
  return {
    title: `Purge mailbox ${name}?`,
    lines: [
      `Cancels READY, DELAYED and BLOCKED messages${within(scope)}: ${count(counts.ready)} ready, ${count(counts.delayed)} delayed and ${count(counts.blocked)} blocked${scope === undefined ? '' : ' in the whole mailbox'}.`,
      purged,
      scope === undefined ? once : each(Math.ceil(waiting / perStep), `${perStep} messages`),
    ],
    confirm: 'Purge',
    act: (_values, report) =>
      scope === undefined
        ? startBulk(api, `/mailboxes/${id}`, { action: 'PURGE' })
        : inSteps(
            api,
            `/mailboxes/${id}/purge`,
            { scopeId: scope },
            { limit: Number.POSITIVE_INFINITY, done: 'Cancelled', report },
          ),
  };
};

const clear: Action = async (api, { id = '', scope }) => {
  const { name } = await api.get<Mailbox>(`/mailboxes/${id}`);
  return {
    title: `Remove finished messages of ${name}?`,
    lines: [
      `Removes messages that have ended${within(scope)}, oldest first, before their retention ends: their payloads, results, errors and questions are gone for good. Members of undecided groups stay.`,
      `It makes room where a space keeps as much as it may, and counts as one operation for every ${perStep}.`,
    ],
    fields: [maxField(10_000)],
    confirm: 'Remove',
    act: ({ limit = '0' }, report) =>
      inSteps(
        api,
        `/mailboxes/${id}/purge`,
        { finished: true, ...(scope !== undefined && { scopeId: scope }) },
        { limit: Number(limit), done: 'Removed', report },
      ),
  };
};

const requeueAll: Action = async (api, { id = '', state = '', scope }) => {
  const { name, counts } = await api.get<Mailbox>(`/mailboxes/${id}`);
  const known = state === 'FAILED' && scope === undefined ? `: there are ${count(counts.failed)}` : '';
  return {
    title: `Requeue what is ${words(state)} in ${name}?`,
    lines: [
      `Brings back all messages${within(scope)} that are ${state} now${known}.`,
      requeued,
      scope === undefined ? once : `It counts as one operation for every ${perStep}.`,
    ],
    confirm: 'Requeue',
    act: (_values, report) =>
      scope === undefined
        ? startBulk(api, `/mailboxes/${id}`, { action: 'REQUEUE', state })
        : inSteps(
            api,
            `/mailboxes/${id}/requeue`,
            { state, scopeId: scope },
            { limit: Number.POSITIVE_INFINITY, done: 'Requeued', report },
          ),
  };
};

const purgeRun: Action = async (api, { id = '' }) => {
  const { name, live } = await api.get<Scope>(`/scopes/${id}`);
  return {
    title: `Purge ${name === null ? 'this run' : `run ${name}`}?`,
    lines: [
      `Cancels READY, DELAYED and BLOCKED messages of scope ${id} and all below it, in all mailboxes: ${plural(live.messages, 'live message')}, claimed ones included.`,
      purged,
      once,
    ],
    confirm: 'Purge',
    act: () => startBulk(api, `/scopes/${id}`, { action: 'PURGE' }),
  };
};

const requeueRun: Action = async (api, { id = '', state = '' }) => {
  const { name } = await api.get<Scope>(`/scopes/${id}`);
  return {
    title: `Requeue what is ${words(state)} in ${name === null ? 'this run' : `run ${name}`}?`,
    lines: [
      `Brings back all messages of scope ${id} and all below it, in all mailboxes, that are ${state} now.`,
      requeued,
      once,
    ],
    confirm: 'Requeue',
    act: () => startBulk(api, `/scopes/${id}`, { action: 'REQUEUE', state }),
  };
};

const cancelBulk: Action = async (api, { id = '' }) => {
  const bulk = await api.get<Bulk>(`/bulk/${id}`);
  return {
    title: 'Cancel this bulk work?',
    lines: [
      `${bulkText(bulk)}: ${plural(bulk.done, 'message')} done so far, which stay so. The others are left alone.`,
      once,
    ],
    confirm: 'Cancel the work',
    act: async () => {
      const { state, done } = await api.send<Bulk>('POST', `/bulk/${id}/cancel`);
      return `It is ${words(state)}, with ${plural(done, 'message')} done.`;
    },
  };
};

interface Stopped {
  readonly cancelled: Readonly<Record<string, number>>;
  readonly activeReservations: number;
  readonly done: boolean;
}

/** Pauses or resumes a mailbox or a scope. */
const pausing =
  (verb: 'pause' | 'resume', kind: 'mailboxes' | 'scopes'): Action =>
  async (api, { id = '', name = id }) => ({
    title: `${verb === 'pause' ? 'Pause' : 'Resume'} ${name}?`,
    lines: [
      verb === 'pause'
        ? 'None of its messages are handed out until it is resumed. Claims, sends, deadlines and schedules continue, and messages keep their places.'
        : 'Receives that wait are woken, and messages are handed out from where it was paused.',
      once,
    ],
    confirm: verb === 'pause' ? 'Pause' : 'Resume',
    act: async () => {
      await api.send('POST', `/${kind}/${id}/${verb}`);
      return verb === 'pause' ? 'Paused: one operation.' : 'Resumed: one operation.';
    },
  });

/** The most times that a stop is continued; then workers do the rest. */
const maxStops = 20;
/** About how many records one step of a stop ends. */
const perStop = 250;

const stop: Action = async (api, { id = '' }) => {
  const { name, live } = await api.get<Scope>(`/scopes/${id}`);
  const steps = Math.min(1 + maxStops, Math.ceil((live.messages + live.waiters) / perStop) || 1);
  return {
    title: name === null ? 'Stop this run?' : `Stop run ${name}?`,
    lines: [
      `Cancels scope ${id} and all below it: ${plural(live.messages, 'live message')}, ${plural(live.waiters, 'waiter')}, its open barriers and undecided groups. Claims are lost; schedules of it end.`,
      'It cannot be taken back: nothing can be sent or reserved there any more. Reservations stay until they are settled or voided.',
      `It counts as about one operation for every ${perStop} records, here about ${plural(steps, 'operation')}; fewer if workers stop a part of it.`,
    ],
    confirm: 'Stop the run',
    act: async (_values, report) => {
      for (let asked = 0; ; asked++) {
        const answer = await api.send<Stopped>('POST', `/scopes/${id}/cancel`);
        const ended = Object.entries(answer.cancelled).filter(([, number]) => number > 0);
        const what =
          ended.map(([kind, number]) => plural(number, kind.replace(/s$/, ''))).join(', ') || 'nothing that was live';
        const left =
          answer.activeReservations > 0 ? ` ${plural(answer.activeReservations, 'reservation')} still active.` : '';
        if (answer.done) return `Stopped. Cancelled: ${what}.${left}`;
        if (asked === maxStops) return `Stopped; workers cancel the rest. So far: ${what}.${left}`;
        report(`Cancelled so far: ${what}…`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    },
  };
};

const pauseSchedule: Action = async (api, { id = '' }) => {
  const { name } = await api.get<Schedule>(`/schedules/${id}`);
  return {
    title: `Pause schedule ${name}?`,
    lines: ['It sends nothing until it is resumed. Messages that fall due in the meantime are not sent later.', once],
    confirm: 'Pause the schedule',
    act: async () => {
      const { state } = await api.send<Schedule>('PATCH', `/schedules/${id}`, { state: 'PAUSED' });
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const resumeSchedule: Action = async (api, { id = '' }) => {
  const { name } = await api.get<Schedule>(`/schedules/${id}`);
  return {
    title: `Resume schedule ${name}?`,
    lines: ['It continues with its next scheduled time; each message that it sends counts as one operation.', once],
    confirm: 'Resume the schedule',
    act: async () => {
      const { state, nextAt } = await api.send<Schedule>('PATCH', `/schedules/${id}`, { state: 'ACTIVE' });
      const next = nextAt === null ? '' : `, next at ${momentText(nextAt)}`;
      return `It is ${words(state)}${next}: one operation.`;
    },
  };
};

const enable: Action = async (api, { id = '' }) => {
  const { url, disabledReason } = await api.get<Destination>(`/destinations/${id}`);
  const why = disabledReason === null ? '' : ` It was disabled: ${words(disabledReason)}.`;
  return {
    title: 'Enable this destination again?',
    lines: [
      `${url} receives events from then on.${why}`,
      'Events that it has missed are not sent by themselves: redeliver them below, one by one, or read them from the journal.',
      once,
    ],
    confirm: 'Enable it',
    act: async () => {
      const { state } = await api.send<Destination>('PATCH', `/destinations/${id}`, { state: 'ACTIVE' });
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const deliverAll: Action = async (api, { id = '' }) => {
  const { url, waiting } = await api.get<Destination>(`/destinations/${id}`);
  return {
    title: 'Deliver everything that waits now?',
    lines: [
      `${plural(waiting, 'event')} for ${url}: two at a time, and 16 from the first success on. With a failure the others keep their times.`,
      once,
    ],
    confirm: 'Deliver now',
    act: async () => {
      const { waiting } = await api.send<Destination>('POST', `/destinations/${id}/deliver`);
      return `${plural(waiting, 'event')} on the way: one operation.`;
    },
  };
};

const disable: Action = async (api, { id = '' }) => {
  const { url, consecutiveFailures } = await api.get<Destination>(`/destinations/${id}`);
  return {
    title: 'Disable this destination?',
    lines: [
      `${url} receives no events until it is enabled again; ${plural(consecutiveFailures, 'attempt')} failed in a row.`,
      'Its pending deliveries are given up. The journal keeps the events.',
      once,
    ],
    confirm: 'Disable it',
    act: async () => {
      const { state } = await api.send<Destination>('PATCH', `/destinations/${id}`, { state: 'DISABLED' });
      return `It is ${words(state)}: one operation.`;
    },
  };
};

const trigger: Action = async (api, { id = '' }) => {
  const { name, mailboxId } = await api.get<Schedule>(`/schedules/${id}`);
  return {
    title: `Send the message of schedule ${name} now?`,
    lines: [`One message into mailbox ${mailboxId}. Its scheduled times do not change.`, once],
    confirm: 'Send it now',
    act: async () => {
      const { lastMessageId } = await api.send<Schedule>('POST', `/schedules/${id}/trigger`);
      return `Sent message ${lastMessageId}: one operation.`;
    },
  };
};

const redeliver: Action = async (api, { id = '', type = '' }) => ({
  title: 'Deliver this event again?',
  lines: [
    `The event ${type} of this attempt, once, now. Its receiver may get it twice: the webhook-id is the same.`,
    once,
  ],
  confirm: 'Deliver again',
  act: async () => {
    const { state, responseStatus, errorCode } = await api.send<Delivery>('POST', `/deliveries/${id}/redeliver`);
    return `${state === 'SUCCEEDED' ? 'Delivered' : 'It failed'}: ${responseStatus ?? errorCode ?? 'no response'}. One operation.`;
  },
});

/** By the name in a button's `data-act`. */
export const actions: Readonly<Record<string, Action>> = {
  cancel,
  release,
  requeue,
  requeueThese,
  cancelThese,
  purge,
  clear,
  requeueAll,
  purgeRun,
  requeueRun,
  cancelBulk,
  stop,
  createKey,
  revokeKey,
  pauseMailbox: pausing('pause', 'mailboxes'),
  resumeMailbox: pausing('resume', 'mailboxes'),
  pauseRun: pausing('pause', 'scopes'),
  resumeRun: pausing('resume', 'scopes'),
  ...resourceActions,
  pauseSchedule,
  resumeSchedule,
  enable,
  disable,
  trigger,
  redeliver,
  deliverAll,
  answer,
};
