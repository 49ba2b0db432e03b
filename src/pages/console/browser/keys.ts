import type { Action } from './ask.ts';
import type { Key } from './records.ts';

const wordsOf = (text = ''): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

/** The value as a field of the call, or no field if it is empty. */
const given = (name: string, value: unknown): object =>
  value === '' || (Array.isArray(value) && value.length === 0) ? {} : { [name]: value };

const days = (text: string): string =>
  text === '' || (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 3650)
    ? ''
    : 'Enter 1 to 3650 days, or nothing for never.';

export const createKey: Action = async (api) => ({
  title: 'Create an API key?',
  lines: [
    'It can do no more than the key that you have signed in with: give it at least the same limits.',
    'The key is shown once, in this window, and nobody can read it again.',
  ],
  fields: [
    { name: 'name', label: 'Name', value: '' },
    {
      name: 'permissions',
      label: 'Permissions, with commas between',
      value: 'coordination_read, coordination_write',
      check: (text) => (wordsOf(text).length > 0 ? '' : 'Enter at least one permission.'),
    },
    { name: 'spaces', label: 'Ids of its spaces; empty: all', value: api.spaceId },
    { name: 'mailboxes', label: 'Ids of its mailboxes, of one space; empty: all', value: '' },
    { name: 'holder', label: 'The only holder it acts as; empty: any', value: '' },
    { name: 'days', label: 'Days until it ends; empty: never', value: '90', isNumber: true, check: days },
  ],
  confirm: 'Create the key',
  act: async ({ name = '', permissions, spaces, mailboxes, holder = '', days = '' }) => {
    const { apiKey } = await api.outside.send<{ readonly apiKey: string | null }>('POST', '/keys', {
      permissions: wordsOf(permissions),
      ...given('name', name),
      ...given('spaces', wordsOf(spaces)),
      ...given('mailboxes', wordsOf(mailboxes)),
      ...given('holder', holder),
      ...given('expiresInDays', days === '' ? '' : Number(days)),
    });
    if (apiKey === null) return 'It was created, but its answer was lost: revoke it, and create another one.';
    return `Keep it now, it is not shown again: ${apiKey}`;
  },
});

export const revokeKey: Action = async (api, { id = '', label = '' }) => ({
  title: `Revoke the key ${label}?`,
  lines: [`Key ${id}: its next request is refused, and nobody can bring it back.`],
  confirm: 'Revoke the key',
  act: async () => {
    await api.outside.send<Key>('DELETE', `/keys/${id}`);
    return 'It is revoked.';
  },
});
