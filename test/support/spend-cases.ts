import { readFileSync } from 'node:fs';

/** A step of the function that makes a model call. */
export interface Step {
  /** Takes `call.fetch` without using it. */
  readonly take?: true;
  /** The instruction to the provider. */
  readonly fetch?: { readonly as?: 'stream' | 'silent'; readonly [name: string]: unknown };
  /** Goes on if the request fails. */
  readonly catches?: true;
  /** Does not wait for the answer. */
  readonly awaits?: false;
  /** Does not read the answer's body. */
  readonly reads?: false;
  readonly timeoutSeconds?: number;
  /** Aborts the request: before it is sent, or once the provider has received it. */
  readonly abort?: 'before' | 'received';
  /** Waits: for the call's own limit, until the reservation is overdue and settled, or until the claim is lost. */
  readonly wait?: 'limit' | 'overdue' | 'lost';
  readonly used?: { readonly [name: string]: number };
  readonly throw?: string;
}

/** A call, and what it costs. */
export interface SpendCase {
  readonly name: string;
  /** Only these; default: all. */
  readonly languages?: readonly ('typescript' | 'python' | 'asyncio')[];
  readonly limitMinor?: number;
  readonly maxSeconds?: number;
  readonly onUnknown?: 'settle' | 'release';
  readonly attempts?: number;
  /** The work belongs to a message, whose claim is lost in a step. */
  readonly claim?: 'lost';
  readonly quotas?: readonly { readonly counts: 'tokens' | 'requests'; readonly isFull?: true }[];
  /** Aborts the whole call while it waits in line. */
  readonly abort?: 'in line';
  readonly steps: readonly Step[];
  /** `returned`, `aborted`, `thrown` (any error), or the error's code or message. */
  readonly ends: string;
  readonly booked: number;
  /** The units of the quotas; by default the booked amount. */
  readonly units?: number | readonly number[];
  /** What is settled of each reservation, oldest first. */
  readonly reservations?: readonly string[];
  /** The requests that the provider has received. */
  readonly requests?: number;
}

/** A process that dies, or is told to end, during a call. */
export interface SpendDeath {
  readonly name: string;
  /** In the queue of a quota; in the function, before its request; or once the provider has received the request. */
  readonly at: 'in line' | 'entered' | 'received';
  readonly signal: 'SIGKILL' | 'SIGTERM';
  /** The next attempt: what its answer costs, and where it is booked. */
  readonly then?: { readonly tokens: number; readonly budget?: 'another' };
  readonly billed: number;
  readonly booked: number;
}

interface Table {
  readonly calls: readonly (SpendCase & { readonly statuses?: readonly number[] })[];
  readonly deaths: readonly SpendDeath[];
}

const file = new URL('../clients/behaviours/spend.json', import.meta.url);
const table = JSON.parse(readFileSync(file, 'utf8')) as Table;

/** A case for each status. */
function expanded({ statuses, ...one }: Table['calls'][number]): readonly SpendCase[] {
  if (!statuses) return [one];
  return statuses.map((status) => {
    const text = JSON.stringify(one).replaceAll('"status":"{status}"', `"status":${status}`);
    return JSON.parse(text.replaceAll('{status}', String(status))) as SpendCase;
  });
}

export const spendCases: readonly SpendCase[] = table.calls.flatMap(expanded);
export const spendDeaths: readonly SpendDeath[] = table.deaths;
