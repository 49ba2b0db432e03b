/** Ids of the demo's objects in Muster. */
export interface Ids {
  /** The run: everything in the demo belongs to this scope. */
  readonly scopeId: string;
  readonly countId: string;
  readonly hashId: string;
  readonly voteId: string;
  readonly inboxId: string;
  readonly barrierId: string;
  readonly allowanceId: string;
}

/** An agent's orders at its start. */
export interface Orders extends Ids {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly folder: string;
  readonly name: string;
  /** Minimum time for counting one unit, so that people can follow. */
  readonly paceMs: number;
  /** Reports a wrong digest in the vote. */
  readonly lies: boolean;
}

export const crew = ['ada', 'ben', 'cleo', 'dora', 'emil'] as const;
/** The agent that is killed while it holds a message. */
export const victim = 'ben';
/** The agent that replaces the victim. */
export const successor = 'finn';
export const liar = 'emil';
/** Arrivals at the barrier: the agents, with the victim replaced, and the coordinator. */
export const parties = crew.length + 1;
export const quorum = 3;
export const claimSeconds = 5;
export const cooldownSeconds = 3;

/** The price of hashing: one cent per file. */
export const priceOf = (files: number): bigint => BigInt(files);
/** The amount to reserve: 10 % more, since files may have been added meanwhile. */
export const estimateOf = (files: number): bigint => BigInt(Math.max(1, Math.ceil(files * 1.1)));

/** A unit to hash; the agent that gets the one with `pause` starts a cooldown for all. */
export interface HashInput {
  readonly unit: string;
  readonly files: number;
  readonly budgetId: string;
  readonly pause: boolean;
}

/** What agents publish to the coordinator's inbox. */
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
