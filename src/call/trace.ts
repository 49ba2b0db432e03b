import { randomBytes } from 'node:crypto';

/** Where a call or a message belongs in a trace, as https://www.w3.org/TR/trace-context/ has it; '' where it belongs to none. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string;
}

/** It belongs to no trace. */
export const noTrace: TraceContext = { traceparent: '', tracestate: '' };

/** A version after 00 may append more to these parts. */
const parentForm = /^([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags that are defined: sampled and random. Those of later versions are not handed on. */
const knownFlags = 0x03;

/** As long as every vendor must hand on. */
const maxStateLength = 512;
const maxStateMembers = 32;
const stateMember = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The form of every traceparent that is kept: a later version is written as this one. */
export const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What a carrier says of a trace: the headers of a request, or `_meta` of a message of MCP. What is malformed is ignored. */
export function readTrace(carrier: Readonly<Record<string, unknown>>): TraceContext {
  const { traceparent, tracestate } = carrier;
  if (typeof traceparent !== 'string') return noTrace;
  const [, version, traceId, parentId, flags = '', more] = parentForm.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return noTrace;
  const kept = version === '00' ? flags : (Number.parseInt(flags, 16) & knownFlags).toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${parentId}-${kept}`, tracestate: stateOf(tracestate) };
}

function stateOf(given: unknown): string {
  if (typeof given !== 'string') return '';
  const members = given.split(',').map((member) => member.trim());
  const written = members.filter((member) => member !== '');
  const isValid = written.length <= maxStateMembers && written.every((member) => stateMember.test(member));
  return isValid && given.length <= maxStateLength ? written.join(',') : '';
}

/** The id of the trace; '' where there is none. */
export function traceIdOf({ traceparent }: Pick<TraceContext, 'traceparent'>): string {
  return traceparent.slice(3, 35);
}

/** Does work that belongs in a trace. name: of its span, if one is made. */
export type GoOn = <T>(trace: TraceContext, name: string, work: () => Promise<T>) => Promise<T>;

/** Does work that begins a trace and hands it on. name: of the trace's first span, if any is made. */
export type BeginTrace = <T>(name: string, work: (traceparent: string) => Promise<T>) => Promise<T>;

/** A trace of its own. It says that it is sampled: whoever goes on with it decides by that. */
export function newTrace(): TraceContext {
  const ids = randomBytes(24).toString('hex');
  return { traceparent: `00-${ids.slice(0, 32)}-${ids.slice(32)}-01`, tracestate: '' };
}
