import { MusterError } from '../error.ts';
import type { Answer } from '../types.ts';
import type { Spender } from './spending.ts';

/** The outcome of a prerequisite, a message or a group. */
export interface PrerequisiteResult<Result = unknown> {
  /** Null unless it is a message. */
  readonly messageId: string | null;
  /** Null unless it is a group. */
  readonly groupId: string | null;
  /** Null unless it is a scope, which has no result. */
  readonly scopeId: string | null;
  /** Its final state. */
  readonly state: string | null;
  /**
   * The message's result. For a group, the results of its SUCCEEDED members except rejected ones. Null if there is none, or
   * if retention has removed it.
   */
  readonly result: Result | null;
}

/** Concurrent reads. */
const atOnce = 8;

type Reader = Pick<Spender, 'muster' | 'insist'>;
type Prerequisite = Answer<'message.view'>['after'][number];

/** The results of a message's prerequisites, in order. */
export async function resultsOf(reader: Reader, after: readonly Prerequisite[]): Promise<PrerequisiteResult[]> {
  const results: PrerequisiteResult[] = [];
  for (let at = 0; at < after.length; at += atOnce)
    results.push(...(await Promise.all(after.slice(at, at + atOnce).map((one) => resultOf(reader, one)))));
  return results;
}

async function resultOf({ muster, insist }: Reader, after: Prerequisite): Promise<PrerequisiteResult> {
  const { messageId, groupId } = after;
  if (messageId === null && groupId === null) return { ...after, result: null };
  try {
    const result =
      messageId !== null
        ? (await insist((options) => muster.message.view({ messageId }, options))).result
        : (await insist((options) => muster.group.view({ groupId: groupId ?? '' }, options))).members.flatMap(
            ({ state, verdict, outcome }) => (state === 'SUCCEEDED' && verdict !== 'REJECTED' ? [outcome] : []),
          );
    return { ...after, result };
  } catch (error) {
    if (error instanceof MusterError && error.status === 404) return { ...after, result: null };
    throw error;
  }
}
