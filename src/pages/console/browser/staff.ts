import type { Mailbox } from './records.ts';
import type { SpaceState } from './space-state.ts';

/** How many workers hold messages of a mailbox or wait for one, as far as they have been read. */
export function workersAt({ id }: Mailbox, { waits, receivers }: SpaceState): number {
  const own = [...(waits?.heldClaims ?? []), ...(receivers?.receivers ?? [])].filter(
    ({ mailboxId }) => mailboxId === id,
  );
  return new Set(own.map(({ holder, holderSession }) => `${holder}\t${holderSession}`)).size;
}

/** Whether nobody works on a mailbox that has work. Claims and receivers beyond the rows that were read are not known. */
export function isDeserted(mailbox: Mailbox, world: SpaceState): boolean {
  const { counts, paused } = mailbox;
  return !paused && counts.ready > 0 && counts.claimed === 0 && workersAt(mailbox, world) === 0;
}

export function backlogOf({ counts: { ready, delayed, blocked, claimed } }: Mailbox): number {
  return ready + delayed + blocked + claimed;
}

/** The used share of a mailbox's backlog limit, from 0 to 1. */
export const fullnessOf = (mailbox: Mailbox): number => backlogOf(mailbox) / mailbox.backlogLimit;

/** Longest waiting first. */
export function byOldest(a: Mailbox, b: Mailbox): number {
  const moment = ({ oldestReadyAt }: Mailbox): number =>
    oldestReadyAt === null ? Infinity : Date.parse(oldestReadyAt);
  return moment(a) === moment(b) ? 0 : moment(a) - moment(b);
}
