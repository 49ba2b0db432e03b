import type { Muster } from '../../clients/typescript/index.ts';

export const crew = ['ada', 'ben', 'cleo', 'dora', 'emil'] as const;
/** The agent killed while it holds a message, its replacement, and the agent that votes wrongly. */
export const [victim, successor, liar] = ['ben', 'finn', 'emil'];
/** Arrivals per epoch: the agents, with the victim replaced, and the coordinator. */
export const parties = crew.length + 1;
export const quorum = 3;
export const claimSeconds = 5;
export const cooldown = { seconds: 3, reason: 'the disk is busy' };

type Texts<Names extends string> = Readonly<Record<Names, string>>;

/** Ids of the demo's objects in Muster. Everything belongs to one scope. */
export type Ids = Texts<'scopeId' | 'countId' | 'hashId' | 'voteId' | 'inboxId' | 'barrierId' | 'allowanceId'>;

/** An agent's orders. Each unit takes at least paceMs. */
export type Orders = Ids & Texts<'url' | 'key' | 'spaceId' | 'folder' | 'name'> & { readonly paceMs: number };

/** A unit to hash, at one cent per file. The agent that gets the one with `pause` starts a cooldown for all. */
export type HashInput = Texts<'unit' | 'budgetId'> & { readonly files: number; readonly pause: boolean };

/** The messages of agents to the coordinator's inbox. */
export type Report = Texts<'unit' | 'by'> &
  (
    | { readonly kind: 'counted'; readonly files: number; readonly bytes: number }
    | ({ readonly kind: 'hashed' } & Texts<'sha256'>)
    | ({ readonly kind: 'refused' } & Texts<'code'>)
    | ({ readonly kind: 'voted' } & Texts<'taskId' | 'sha256'>)
  );
export type ReportOf<Kind extends Report['kind']> = Extract<Report, { kind: Kind }>;

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
