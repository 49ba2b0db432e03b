/** The measured phases, in this order. */
export type Phase = 'send' | 'drain' | 'through' | 'reserve' | 'arrive' | 'consume';

interface PhaseKind {
  title: string;
  /** The unit of rates and costs: a message, whatever calls it takes, or a single request. */
  counts: 'messages' | 'requests';
}

export const PHASES: Record<Phase, PhaseKind> = {
  send: { title: 'send: one POST per message; BullMQ: add, its worker held still', counts: 'messages' },
  drain: {
    title: 'drain: recv, then complete, over what was sent; BullMQ: its worker, released (no HTTP)',
    counts: 'messages',
  },
  through: {
    title: 'through: send, recv and complete in turn on each connection; BullMQ: add while its worker runs',
    counts: 'messages',
  },
  reserve: { title: 'reserve + settle: a reservation, then the whole of it settled; per request', counts: 'requests' },
  arrive: { title: 'arrive: a new arrivalKey each, at barriers of 100,000; per request', counts: 'requests' },
  consume: { title: 'consume: one unit of an allowance of 10^9; per request', counts: 'requests' },
};

export const PHASE_NAMES = Object.keys(PHASES) as Phase[];

/** Phases of single calls: the bare server runs beside each of them, because each is compared with it. */
export const CALL_PHASES = PHASE_NAMES.filter((phase) => PHASES[phase].counts === 'requests');
