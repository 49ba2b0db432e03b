import { type Answered, raw, text } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import type { ServeContext } from '../../engine/route/route.ts';

/**
 * The reply of event/list: the position at the end of the page, the journal's epoch, the segments at the start of the
 * page, and the stream entries after them.
 */
export const pageReply = { last: text(), epoch: text(), entries: raw<Value[]>(), segments: raw<Value[]>() };
export type PageReply = Answered<typeof pageReply>;

/** The arguments of event/list, without the caller's. */
export interface PageArgs {
  readonly cursor: string;
  readonly epoch: string;
  readonly limit: number;
}

export interface JournalPage {
  /** The position after its last event. */
  readonly last: string;
  readonly epoch: string;
  readonly entries: readonly Value[];
  /** Whether it ends before a damaged segment. */
  readonly isCut: boolean;
}

/** Runs the script for the parts of a request's page; only the first run counts as a request. */
export function pageRuns({ execute }: ServeContext<typeof pageReply>, isFirst = true) {
  let again = !isFirst;
  return async (args: PageArgs & { readonly opened: string }): Promise<PageReply> => {
    const { reply } = await execute({ ...args }, again);
    again = true;
    // This script always replies.
    return reply as PageReply;
  };
}
