import { type Answered, raw, text } from '../declare/field.ts';
import type { Value } from '../declare/value.ts';

/** What event/list replies with: where the page ends, the journal's generation, and the entries of its stream. */
export const pageReply = { last: text(), epoch: text(), entries: raw<Value[]>() };
export type JournalPage = Answered<typeof pageReply>;
