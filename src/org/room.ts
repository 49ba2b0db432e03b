import type { Room } from '../room.ts';
import { orgKeys } from './keys.ts';
import { ApiKey, AuditEntry, Organization } from './records.ts';

export const orgRoom: Room = {
  name: 'org',
  keys: orgKeys,
  records: [Organization, ApiKey, AuditEntry],
};
