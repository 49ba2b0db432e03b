import { setTimeout as sleep } from 'node:timers/promises';
import { picture } from './picture.ts';
import { cooldownSeconds } from './plan.ts';
import type { Screen } from './screen.ts';
import { look, type Stage } from './stage.ts';

const pictureMs = 200;

/** Looks at Muster a few times a second, until it is over: draws what it sees, tells what happens by itself. */
export async function show(stage: Stage, screen: Screen, isOver: () => boolean): Promise<void> {
  let cooling = false;
  for (let last = false; !last; ) {
    last = isOver();
    const sight = await look(stage);
    const { cooldownUntil, cooldownReason, waiting } = sight.allowance;
    if (cooldownUntil !== null && !cooling)
      screen.tell('quota', `"${cooldownReason}": an agent starts a cooldown of ${cooldownSeconds} s, for everybody`);
    if (cooldownUntil === null && cooling)
      screen.tell('quota', `the cooldown is over: who is in line (${waiting}) goes on in the order of arrival`);
    cooling = cooldownUntil !== null;
    screen.draw(picture(screen, stage, sight));
    if (!last) await sleep(pictureMs);
  }
}
