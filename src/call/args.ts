/** The arguments that lib/call takes of every script of a call: of one that nobody asked for. A caller sets what it knows. */
export const callArgs = {
  apiKeyDigest: '',
  permission: '',
  spaceId: '',
  rateClass: 'held',
  callName: '',
  idempotencyDigest: '',
  fingerprint: '',
  requestId: '',
  drainedThrough: '',
  unpacked: '',
};
