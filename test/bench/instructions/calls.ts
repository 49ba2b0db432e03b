// The measured calls: the preparation and the request of each.

/** Makes a request below the space's path; resolves with the body. */
export type Post = (request: Request) => Promise<Record<string, string>>;

export interface Request {
  readonly path: string;
  readonly body: object;
}

/** Prepares the next call of its kind, and returns its request. */
export type Prepare = () => Request | Promise<Request>;

export const CALL_NAMES = ['send', 'recv', 'complete', 'reserve', 'settle', 'arrive', 'consume'] as const;
export type CallName = (typeof CALL_NAMES)[number];

const PAYLOAD_BYTES = 100;
const payload = { text: 'x'.repeat(PAYLOAD_BYTES - '{"text":""}'.length) };
const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const holder = 'bench';
const amountMinor = '125';
/** The highest allowed target, which is never reached. */
const TARGET = 100_000;

/** Each call has records of its own, so that none is measured with records that another has left. */
export async function makeCalls(post: Post): Promise<Record<CallName, Prepare>> {
  const create = async (path: string, body: object): Promise<string> => (await post({ path, body }))['id'] ?? '';
  const mailbox = (name: string): Promise<string> => create('/mailboxes', { name, backlogLimit: 100_000 });
  const budget = (name: string): Promise<string> =>
    create('/budgets', { name, currency: 'EUR', scale: 2, limitMinor: '9'.repeat(18) });
  const allowance = { name: 'consume', unitsLimit: 1_000_000_000, windowSeconds: 3_600 };
  const at = {
    send: `/mailboxes/${await mailbox('send')}`,
    recv: `/mailboxes/${await mailbox('recv')}`,
    complete: `/mailboxes/${await mailbox('complete')}`,
    reserve: `/budgets/${await budget('reserve')}`,
    settle: `/budgets/${await budget('settle')}`,
    arrive: `/barriers/${await create('/barriers', { scopeId, target: TARGET })}`,
    consume: `/allowances/${await create('/allowances', allowance)}`,
  };
  const send = (box: string): Request => ({ path: `${box}/messages`, body: { scopeId, payload } });
  const recv = (box: string): Request => ({
    path: `${box}/recv`,
    body: { scopeId, holder, holderSession: 'bench-1', leaseSeconds: 600 },
  });
  const reserve = (of: string): Request => ({ path: `${of}/reserve`, body: { scopeId, holder, amountMinor } });
  let next = 0;
  const key = (): string => `key-${String(next++).padStart(6, '0')}`;

  return {
    send: () => send(at.send),
    recv: async () => {
      await post(send(at.recv));
      return recv(at.recv);
    },
    complete: async () => {
      await post(send(at.complete));
      const { id, token } = await post(recv(at.complete));
      return { path: `/messages/${id}/complete`, body: { token } };
    },
    reserve: () => reserve(at.reserve),
    settle: async () => {
      const { id } = await post(reserve(at.settle));
      return { path: `${at.settle}/settle`, body: { reservationId: id, amountMinor, workKey: key() } };
    },
    arrive: () => ({ path: `${at.arrive}/arrive`, body: { arrivalKey: key() } }),
    consume: () => ({ path: `${at.consume}/consume`, body: { scopeId, units: 1, holder } }),
  };
}
