import { text } from '../../engine/declare/field.ts';
import { many } from '../../engine/declare/record.ts';
import { fields, page } from '../../engine/route/fields.ts';
import { Cursors, pageReply } from '../../engine/route/page.ts';
import { type Route, route } from '../../engine/route/route.ts';
import { VisibleSpace } from './records.ts';

const cursors = new Cursors('spaces', /^[1-9]\d{0,14}$/);

/** The spaces visible to a key. */
export const visibleSpaces: Route = route({
  method: 'GET',
  path: '/spaces',
  call: 'space.list',
  summary: 'The spaces that the API key can see, newest first',
  description:
    "Needs no permission, and is counted in the organization's rate. A key that is limited to some spaces " +
    'sees those.',
  permission: 'any',
  idempotency: 'never',
  rate: 'limits',
  query: fields(page()),
  success: { 200: pageReply('spaces', VisibleSpace.schema) },
  refuses: ['INVALID_CURSOR'],
  script: 'space/visible',
  args: (input) => ({ limit: input.query.limit, cursor: cursors.read(input) }),
  reply: { nextCursor: text().orNull(), spaces: many(VisibleSpace) },
  answer: ({ nextCursor, spaces }, input) => ({
    status: 200,
    body: { spaces, nextCursor: cursors.next(input, nextCursor) },
  }),
});
