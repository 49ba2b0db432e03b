import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from './plan.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';

/** The coordinator's recurring steps. */

const coordinator = 'coordinator';
const sendConcurrency = 20;

/** Sends one message per unit. */
export async function send(
  { muster, ids, subjects }: Stage,
  mailboxId: string,
  units: readonly string[],
  payload: (unit: string, index: number) => object,
): Promise<void> {
  for (let from = 0; from < units.length; from += sendConcurrency) {
    const batch = units.slice(from, from + sendConcurrency).map(async (unit, index) => {
      const message = { mailboxId, scopeId: ids.scopeId, payload: payload(unit, from + index), workKey: unit };
      subjects.set((await muster.message.send(message)).id, unit);
    });
    await Promise.all(batch);
  }
}

/** Takes reports out of the inbox until there are enough. */
export async function collect(
  stage: Stage,
  enough: () => boolean,
  then: (report: Report) => Promise<void> | void = () => undefined,
): Promise<void> {
  const { muster, ids } = stage;
  const receive = { mailboxId: ids.inboxId, scopeId: ids.scopeId, holder: coordinator, holderSession: 'demo' };
  while (!enough()) {
    const claim = await muster.message.recv({ ...receive, waitSeconds: 1 });
    if (!claim) continue;
    const report = claim.payload as Report;
    stage.file(report);
    await muster.message.complete({ messageId: claim.id, token: claim.token });
    await then(report);
  }
}

/** The coordinator arrives once the next act is prepared, so nobody starts it early. */
export async function meet({ muster, ids }: Stage, screen: Screen, epoch: number): Promise<void> {
  const { barrierId } = ids;
  let barrier = await muster.barrier.arrive({ barrierId, arrivalKey: coordinator, epoch });
  while (barrier.state === 'OPEN') {
    await sleep(50);
    barrier = await muster.barrier.view({ barrierId });
  }
  screen.log('barrier', `all ${barrier.target} have arrived: epoch ${epoch} is released, everybody continues at once`);
}
