import { type Answered, raw, text } from '../declare/field.ts';
import type { Value } from '../declare/value.ts';

/** The reply of event/list: the position at the end of the page, the journal's epoch, and the stream entries. */
export const pageReply = { last: text(), epoch: text(), entries: raw<Value[]>() };
export type JournalPage = Answered<typeof pageReply>;
