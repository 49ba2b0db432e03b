import { type Route, route } from './route.ts';

/** A call that pauses or resumes the record that `view` shows, such as `mailbox.pause`. One script of the room does both. */
export function pauseOrResume(
  call: string,
  { path, success, refuses, reply }: Route,
  words: Pick<Route, 'summary' | 'description'>,
): Route {
  const [room, verb] = call.split('.');
  return route({
    ...{ call, success, refuses, reply, ...words },
    method: 'POST',
    path: `${path}/${verb}`,
    needsAllMailboxes: true,
    permission: 'coordination_write',
    idempotency: 'optional',
    rate: 'recovery',
    example: { paused: verb === 'pause' },
    script: `${room}/pause`,
    args: () => ({ isPaused: verb === 'pause' ? '1' : '0' }),
  });
}
