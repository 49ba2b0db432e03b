import { MusterError } from '../error.ts';
import type { Answer } from '../types.ts';
import type { Spender } from './spending.ts';

/** What one of the messages or groups that a message is after has left. */
export interface PrerequisiteResult<Result = unknown> {
  /** null: it is a group. */
  readonly messageId: string | null;
  /** null: it is a message. */
  readonly groupId: string | null;
  /** How it came out. */
  readonly state: string | null;
  /**
   * The result of the message; of a group a list of those of its SUCCEEDED members that were not rejected. null: there is
   * none, or retention has removed it.
   */
  readonly result: Result | null;
}

/** Reads at once. */
const atOnce = 8;

type Reader = Pick<Spender, 'muster' | 'insist'>;
type Prerequisite = Answer<'message.view'>['after'][number];

/** What the prerequisites of a message have left, in their order. */
export async function resultsOf(reader: Reader, after: readonly Prerequisite[]): Promise<PrerequisiteResult[]> {
  const results: PrerequisiteResult[] = [];
  for (let at = 0; at < after.length; at += atOnce)
    results.push(...(await Promise.all(after.slice(at, at + atOnce).map((one) => resultOf(reader, one)))));
  return results;
}

async function resultOf({ muster, insist }: Reader, after: Prerequisite): Promise<PrerequisiteResult> {
  const { messageId, groupId } = after;
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
