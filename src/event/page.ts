import type { ServeContext } from '../call/route.ts';
import { type Answered, raw, text } from '../declare/field.ts';
import type { Value } from '../declare/value.ts';

/**
 * The reply of event/list: the position at the end of the page, the journal's epoch, the segments that the page begins
 * with, and the stream entries behind them.
 */
export const pageReply = { last: text(), epoch: text(), entries: raw<Value[]>(), segments: raw<Value[]>() };
export type PageReply = Answered<typeof pageReply>;

/** The arguments of event/list besides those of the caller. */
export interface PageArgs {
  readonly cursor: string;
  readonly epoch: string;
  readonly limit: number;
}

/** A page of the journal. */
export interface JournalPage {
  /** The position behind it. */
  readonly last: string;
  readonly epoch: string;
  readonly entries: readonly Value[];
  /** It has fewer entries than it could. */
  readonly isCut: boolean;
}

/** The runs of a request that read parts of its page; the first of a request is counted. */
export function pageRuns({ run }: ServeContext<typeof pageReply>, isFirst = true) {
  let again = !isFirst;
  return async (args: PageArgs & { readonly opened: string }): Promise<PageReply> => {
    const { reply } = await run({ ...args }, again);
    again = true;
    // It always replies.
    return reply as PageReply;
  };
}
