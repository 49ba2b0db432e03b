import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { type Answer, createMuster, type Muster } from '../client/index.ts';
import { type Ids, parties, type Report } from './plan.ts';

type Of<Kind extends Report['kind']> = Extract<Report, { kind: Kind }>;

/** What the coordinator knows, all of it from its inbox. */
export class Stage {
  readonly muster: Muster;
  /** Absolute. */
  readonly folder: string;
  readonly units: readonly string[];
  readonly ids: Ids;
  /** The unit of each message, by message id. */
  readonly subjects = new Map<string, string>();
  readonly counted = new Map<string, Of<'counted'>>();
  readonly hashed = new Map<string, Of<'hashed'>>();
  readonly refused = new Map<string, Of<'refused'>>();
  readonly votes: Of<'voted'>[] = [];
  /** Reports received, repeated ones included. */
  reports = 0;
  /** What the victim held when it died. */
  crashed: { readonly messageId: string; readonly unit: string } | undefined;
  budgetId: string | undefined;
  vote: { readonly groupId: string; readonly correct: string } | undefined;
  accepted = 0;

  constructor(muster: Muster, folder: string, units: readonly string[], ids: Ids) {
    this.muster = muster;
    this.folder = folder;
    this.units = units;
    this.ids = ids;
  }

  /** Creates what the acts need, except the budget, whose amount is known after the first. */
  static async build(
    server: { url: string; key: string; spaceId: string },
    folder: string,
    units: readonly string[],
  ): Promise<Stage> {
    const muster = createMuster(server);
    const scopeId = randomUUID();
    const mailbox = async (name: string) => (await muster.mailbox.create({ name, backlogLimit: 100_000 })).id;
    const inbox = { name: 'reports', mode: 'INBOX', recipientId: 'coordinator', backlogLimit: 100_000 } as const;
    // About ten windows for what the budget covers.
    const unitsLimit = Math.max(1, Math.ceil(units.length / 11));
    const [countId, hashId, voteId, { id: inboxId }, { id: barrierId }, { id: allowanceId }] = await Promise.all([
      mailbox('count'),
      mailbox('hash'),
      mailbox('vote'),
      muster.mailbox.create(inbox),
      muster.barrier.create({ scopeId, target: parties }),
      muster.allowance.create({ name: 'disk', unitsLimit, windowSeconds: 1 }),
    ]);
    return new Stage(muster, folder, units, { scopeId, countId, hashId, voteId, inboxId, barrierId, allowanceId });
  }

  /** The number of files counted so far. */
  get files(): number {
    return [...this.counted.values()].reduce((sum, { files }) => sum + files, 0);
  }

  /** Records a report; a repeated one changes nothing. */
  file(report: Report): void {
    this.reports++;
    if (report.kind === 'counted') this.counted.set(report.unit, report);
    if (report.kind === 'hashed') this.hashed.set(report.unit, report);
    if (report.kind === 'refused') this.refused.set(report.unit, report);
    if (report.kind === 'voted') this.votes.push(report);
  }
}

/** The folder as users would write it. */
export const nameOf = (folder: string): string => relative(process.cwd(), folder) || '.';

/** Muster's state at one time, as any operator can read it. */
export interface Sight {
  readonly waits: Answer<'waits.get'>;
  readonly mailboxes: Answer<'mailbox.list'>['mailboxes'];
  readonly barrier: Answer<'barrier.view'>;
  readonly allowance: Answer<'allowance.view'>;
  readonly budget: Answer<'budget.view'> | undefined;
}

/** Reads all of it at once. */
export async function look({ muster, ids, budgetId }: Stage): Promise<Sight> {
  const [waits, { mailboxes }, barrier, allowance, budget] = await Promise.all([
    muster.waits.get(),
    muster.mailbox.list(),
    muster.barrier.view({ barrierId: ids.barrierId }),
    muster.allowance.view({ allowanceId: ids.allowanceId }),
    budgetId === undefined ? undefined : muster.budget.view({ budgetId, limit: 1 }),
  ]);
  return { waits, mailboxes, barrier, allowance, budget };
}
