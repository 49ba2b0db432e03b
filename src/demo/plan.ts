/** What the demo has in Muster. */
export interface Ids {
  /** The run: everything of the demo lies in this scope. */
  readonly scopeId: string;
  readonly countId: string;
  readonly hashId: string;
  readonly voteId: string;
  readonly inboxId: string;
  readonly barrierId: string;
  readonly allowanceId: string;
}

/** What every agent is told when it starts. */
export interface Orders extends Ids {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly folder: string;
  readonly name: string;
  /** How long counting one unit takes at least, so that people can follow. */
  readonly paceMs: number;
  /** Reports a wrong digest in the vote. */
  readonly lies: boolean;
}

export const crew = ['ada', 'ben', 'cleo', 'dora', 'emil'] as const;
/** Is killed while it holds a message. */
export const victim = 'ben';
/** Is started in the victim's place. */
export const successor = 'finn';
export const liar = 'emil';
/** At the barrier: the agents, one of them in the victim's place, and the coordinator. */
export const parties = crew.length + 1;
export const quorum = 3;
export const claimSeconds = 5;
export const cooldownSeconds = 3;

/** The price of hashing, in cents: one a file. */
export const priceOf = (files: number): bigint => BigInt(files);
/** What is reserved for it: a tenth more, since files may have come in the meantime. */
export const estimateOf = (files: number): bigint => BigInt(Math.max(1, Math.ceil(files * 1.1)));

/** A unit to be hashed; the agent that gets the one with `pause` finds the disk busy and says so to all. */
export interface HashInput {
  readonly unit: string;
  readonly files: number;
  readonly budgetId: string;
  readonly pause: boolean;
}

/** What agents publish into the coordinator's inbox. */
export type Report =
  | {
      readonly kind: 'counted';
      readonly unit: string;
      readonly by: string;
      readonly files: number;
      readonly bytes: number;
    }
  | { readonly kind: 'hashed'; readonly unit: string; readonly by: string; readonly sha256: string }
  | { readonly kind: 'refused'; readonly unit: string; readonly by: string; readonly code: string }
  | { readonly kind: 'voted'; readonly taskId: string; readonly by: string; readonly sha256: string };
