/** What the API answers, as far as the console shows it. Times are ISO 8601; money is digits in minor units. */

export interface ListOf {
  readonly nextCursor: string | null;
}

export type Counts = Readonly<Record<string, number>>;

export interface Census extends Readonly<Record<string, Counts | string>> {
  readonly asOf: string;
}

export interface Backlog {
  readonly asOf: string;
  readonly outbox: Counts;
  readonly readyMessages: number;
  readonly claimedMessages: number;
  readonly waitingWaiters: number;
  readonly armedTimers: number;
  readonly oldestReadyAgeSeconds: number | null;
  readonly oldestWaiterAgeSeconds: number | null;
}

interface OfAllowance {
  readonly waiterId: string;
  readonly allowanceId: string;
  readonly scopeId: string;
  readonly holder: string;
  readonly units: number;
}

export interface Waits {
  readonly asOf: string;
  readonly waiters: readonly (OfAllowance & { position: number; waitingSince: string; blockedBy: string })[];
  readonly heldGrants: readonly (OfAllowance & { windowEndsAt: string })[];
  readonly heldClaims: readonly {
    messageId: string;
    mailboxId: string;
    scopeId: string;
    holder: string;
    attempt: number;
    claimedAt: string;
    leaseExpiresAt: string;
  }[];
  readonly waitingTasks: readonly {
    taskId: string;
    groupId: string | null;
    mailboxId: string;
    scopeId: string;
    waitingSince: string;
  }[];
  readonly truncated: boolean;
}

export interface Mailboxes extends ListOf {
  readonly mailboxes: readonly {
    id: string;
    name: string;
    mode: string;
    backlogLimit: number;
    counts: { ready: number; claimed: number; failed: number };
    oldestReadyAt: string | null;
  }[];
}

export interface Budgets extends ListOf {
  readonly budgets: readonly {
    id: string;
    name: string;
    currency: string;
    scale: number;
    balances: { limit: string; reserved: string; settled: string; available: string };
  }[];
}

export interface Allowances extends ListOf {
  readonly allowances: readonly {
    id: string;
    name: string;
    unitsLimit: number;
    windowSeconds: number;
    windowEndsAt: string;
    usedUnits: number;
    cooldownUntil: string | null;
    cooldownReason: string | null;
    waiting: number;
  }[];
}

export interface Barrier {
  readonly id: string;
  readonly scopeId: string;
  readonly state: string;
  readonly epoch: number;
  readonly arrivals: number;
  readonly target: number;
  readonly createdAt: string;
}

export interface Barriers extends ListOf {
  readonly barriers: readonly Barrier[];
}

export interface Group {
  readonly id: string;
  readonly scopeId: string;
  readonly parentScopeId: string | null;
  readonly mailboxId: string;
  readonly condition: string;
  readonly threshold: number | null;
  readonly state: string;
  readonly outcome: string | null;
  readonly deadline: string | null;
  readonly counts: Counts;
  readonly members: readonly {
    taskId: string;
    taskKey: string | null;
    state: string;
    verdict: string | null;
    reason: string | null;
    attempts: number;
  }[];
  readonly createdAt: string;
}

export interface Groups extends ListOf {
  readonly groups: readonly Group[];
}

export interface Scope {
  readonly id: string;
  readonly parentScopeId: string | null;
  readonly state: string;
  readonly createdAt: string;
}

export interface Run {
  readonly scope: Scope;
  readonly scopes: readonly Scope[];
  readonly messages: readonly {
    id: string;
    mailboxId: string;
    scopeId: string;
    taskKey: string | null;
    workKey: string | null;
    state: string;
    reason: string | null;
    attempts: number;
    maxAttempts: number;
    holder: string | null;
    createdAt: string;
  }[];
  readonly groups: readonly Group[];
  readonly barriers: readonly Barrier[];
  readonly reservations: readonly {
    id: string;
    budgetId: string;
    holder: string;
    amountMinor: string;
    settledMinor: string;
    remainingMinor: string;
    state: string;
    settleBy: string | null;
    overdue: boolean;
    createdAt: string;
  }[];
  readonly waiters: readonly {
    id: string;
    allowanceId: string;
    holder: string;
    units: number;
    state: string;
    position: number | null;
    expiresAt: string;
    createdAt: string;
  }[];
  readonly consumptions: { count: number; units: number };
  readonly truncated: boolean;
}

export interface Happening {
  readonly eventId: string;
  readonly type: string;
  readonly aggregate: string;
  readonly aggregateId: string;
  readonly scopeId: string | null;
  readonly occurredAt: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface EventsPage {
  readonly events: readonly Happening[];
  readonly nextCursor: string;
}
