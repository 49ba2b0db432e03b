import type { Room } from '../room.ts';
import { workerKeys } from '../workers/keys.ts';
import { orgKeys } from './keys.ts';
import { ApiKey, AuditEntry, Organization } from './records.ts';

export const orgRoom: Room = {
  name: 'org',
  keys: { ...orgKeys, ...workerKeys },
  records: [Organization, ApiKey, AuditEntry],
};
