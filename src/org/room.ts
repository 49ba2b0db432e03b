import type { Room } from '../room.ts';
import { queueKeys } from '../workers/queues.ts';
import { orgKeys } from './keys.ts';
import { ApiKey, AuditEntry, Organization } from './records.ts';

export const orgRoom: Room = {
  name: 'org',
  keys: { ...orgKeys, ...queueKeys },
  records: [Organization, ApiKey, AuditEntry],
};
