import { many } from '../../engine/declare/record.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { Space } from './records.ts';

const page = { script: 'space/list', reply: { spaces: many(Space) } };
const pageSize = 200;

/** All spaces of an organization, oldest first, read page by page. Throws Refusal (ORG_NOT_FOUND). */
export async function* spacesOf(scripts: Scripts, org: string): AsyncGenerator<typeof Space.type> {
  for (let cursor = ''; ; ) {
    const { spaces } = await scripts.ask(page, org, { spaceId: '', requestId: '', cursor, limit: pageSize });
    yield* spaces;
    const last = spaces.at(-1);
    if (!last) return;
    cursor = last.spaceId;
  }
}
