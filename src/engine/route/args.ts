/** The arguments of lib/call that every script takes, with defaults for a call that has no caller. */
export const callArgs = {
  apiKeyDigest: '',
  permission: '',
  spaceId: '',
  rateClass: 'held',
  callName: '',
  idempotencyDigest: '',
  fingerprint: '',
  requestId: '',
  sweptThrough: '',
  openedMessages: '',
};
