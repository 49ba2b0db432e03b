import { setTimeout as sleep } from 'node:timers/promises';
import { Count } from './count.ts';
import { meet } from './desk.ts';
import { hash, prepareHashing } from './hash.ts';
import { picture } from './picture.ts';
import { cooldownSeconds, crew, successor } from './plan.ts';
import type { Fleet, Server } from './processes.ts';
import type { Screen } from './screen.ts';
import { look, type Stage } from './stage.ts';
import { judge, prepareVote } from './vote.ts';

/** Three acts with a barrier between them; resolves when every agent has ended. */
export async function play(stage: Stage, server: Server, fleet: Fleet, screen: Screen): Promise<void> {
  let over = false;
  const acts = async (): Promise<void> => {
    await new Count(stage, server, fleet, screen).run();
    await prepareHashing(stage, screen);
    await meet(stage, screen, 1);
    await stage.muster.barrier.nextEpoch({ barrierId: stage.ids.barrierId });
    await hash(stage, screen);
    await prepareVote(stage, screen);
    await meet(stage, screen, 2);
    await judge(stage, screen);
    while (![...crew, successor].every((name) => fleet.hasEnded(name))) await sleep(20);
  };
  const ended = acts().finally(() => {
    over = true;
  });
  await Promise.all([ended, show(stage, screen, () => over)]);
}

const pictureMs = 200;

/** Polls Muster a few times per second until it is over: draws its state, and reports what nobody else reports. */
async function show(stage: Stage, screen: Screen, isOver: () => boolean): Promise<void> {
  let cooling = false;
  for (let last = false; !last; ) {
    last = isOver();
    const sight = await look(stage);
    const { cooldownUntil, cooldownReason, waiting } = sight.allowance;
    if (cooldownUntil !== null && !cooling)
      screen.log('quota', `"${cooldownReason}": an agent starts a cooldown of ${cooldownSeconds} s, for everybody`);
    if (cooldownUntil === null && cooling)
      screen.log('quota', `the cooldown is over: those in line (${waiting}) continue in order of arrival`);
    cooling = cooldownUntil !== null;
    screen.draw(picture(screen, stage, sight));
    if (!last) await sleep(pictureMs);
  }
}
