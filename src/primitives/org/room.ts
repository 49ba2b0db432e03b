import type { Room } from '../room.ts';
import { orgErrors } from './errors.ts';
import { keyRoutes } from './key-routes.ts';
import { orgKeys } from './keys.ts';
import { ApiKey, AuditEntry, Organization } from './records.ts';

export const orgRoom: Room = {
  name: 'org',
  tag: {
    place: 13,
    title: 'API keys',
    description: 'Who may call what: keys with limits and an end, managed by keys with the permission `key_admin`.',
  },
  spacelessRoutes: keyRoutes,
  keys: orgKeys,
  errors: orgErrors,
  records: [Organization, ApiKey, AuditEntry],
};
