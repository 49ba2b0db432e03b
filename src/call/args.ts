/** The arguments of lib/call that every script takes, with the values of a call without a caller. Callers override them. */
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
