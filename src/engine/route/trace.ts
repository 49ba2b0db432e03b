import { randomBytes } from 'node:crypto';

/** The trace of a call or a message, see https://www.w3.org/TR/trace-context/; '' if it has none. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string;
}

export const noTrace: TraceContext = { traceparent: '', tracestate: '' };

/** A version after 00 may append more parts. */
const parentForm = /^([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The defined flags: sampled and random. Flags of later versions are not passed on. */
const knownFlags = 0x03;

/** The length that every vendor must pass on. */
const maxStateLength = 512;
const maxStateMembers = 32;
const stateMember = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The form in which traceparents are kept; later versions are converted to it. */
export const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Reads the trace in a carrier: the headers of a request, or `_meta` of an MCP message. Malformed values are ignored. */
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

/** The id of the trace; '' if there is none. */
export function traceIdOf({ traceparent }: Pick<TraceContext, 'traceparent'>): string {
  return traceparent.slice(3, 35);
}

/** Does work within a trace. name: of its span, if one is made. */
export type GoOn = <T>(trace: TraceContext, name: string, work: () => Promise<T>) => Promise<T>;

/** Starts a trace and does work in it. name: of the trace's first span, if one is made. */
export type BeginTrace = <T>(name: string, work: (traceparent: string) => Promise<T>) => Promise<T>;

/** A new trace. It is marked as sampled, which decides for everyone who continues it. */
export function newTrace(): TraceContext {
  const ids = randomBytes(24).toString('hex');
  return { traceparent: `00-${ids.slice(0, 32)}-${ids.slice(32)}-01`, tracestate: '' };
}
