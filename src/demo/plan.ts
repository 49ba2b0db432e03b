import type { Muster } from '../client/index.ts';

export const crew = ['ada', 'ben', 'cleo', 'dora', 'emil'] as const;
/** The agent that is killed while it holds a message, the one that replaces it, and one that votes wrongly. */
export const [victim, successor, liar] = ['ben', 'finn', 'emil'];
/** Arrivals at the barrier: the agents, with the victim replaced, and the coordinator. */
export const parties = crew.length + 1;
export const quorum = 3;
export const claimSeconds = 5;
export const cooldown = { seconds: 3, reason: 'the disk is busy' };

/** Ids of the demo's objects in Muster; all of it belongs to one scope. */
export type Ids = Readonly<
  Record<'scopeId' | 'countId' | 'hashId' | 'voteId' | 'inboxId' | 'barrierId' | 'allowanceId', string>
>;

/** An agent's orders at its start. */
export interface Orders extends Ids {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
  readonly folder: string;
  readonly name: string;
  /** Minimum time for counting one unit, so that people can follow. */
  readonly paceMs: number;
}

/** A unit to hash, at a cent per file; the agent that gets the one with `pause` starts a cooldown for all. */
export interface HashInput {
  readonly unit: string;
  readonly files: number;
  readonly budgetId: string;
  readonly pause: boolean;
}

/** What agents publish to the coordinator's inbox. */
export type Report = { readonly unit: string; readonly by: string } & (
  | { readonly kind: 'counted'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'hashed'; readonly sha256: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'voted'; readonly taskId: string; readonly sha256: string }
);
export type ReportOf<Kind extends Report['kind']> = Extract<Report, { kind: Kind }>;

/** What the coordinator knows. */
export interface Knowledge {
  readonly muster: Muster;
  readonly folder: string;
  readonly units: readonly string[];
  readonly ids: Ids;
  /** By unit; votes by agent. */
  readonly reports: { [Kind in Report['kind']]: Map<string, ReportOf<Kind>> };
  /** Reports received, repeated ones included. */
  received: number;
  /** The message that the victim held when it died. */
  crashed?: { readonly messageId: string; readonly unit: string };
  budgetId?: string;
  groupId?: string;
}
