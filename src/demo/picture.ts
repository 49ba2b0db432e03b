import { crew, quorum, successor, victim } from './plan.ts';
import type { Screen } from './screen.ts';
import { nameOf, type Sight, type Stage } from './stage.ts';

const width = 30;

function bar(screen: Screen, parts: readonly (readonly [number, 'green' | 'yellow' | 'red'])[], whole: number): string {
  let used = 0;
  let text = '';
  for (const [part, colour] of parts) {
    const cells = whole === 0 ? 0 : Math.min(width - used, Math.round((part / whole) * width));
    text += screen.style(colour, '█'.repeat(cells));
    used += cells;
  }
  return text + screen.style('gray', '░'.repeat(width - used));
}

const money = (cents: string): string => (Number(cents) / 100).toFixed(2);
const seconds = (until: string, from: string): string =>
  `${Math.max(0, (Date.parse(until) - Date.parse(from)) / 1000).toFixed(1)} s`;

/** The live view, made of Muster's answers except for who was killed. */
export function picture(screen: Screen, stage: Stage, sight: Sight): string[] {
  const { units, counted, hashed, refused } = stage;
  const row = (title: string, text: string): string => `${title.padEnd(9)}${text}`;
  const queue = (mailboxId: string): string => {
    const { ready = 0, claimed = 0 } = sight.mailboxes.find(({ id }) => id === mailboxId)?.counts ?? {};
    return `${ready} ready, ${claimed} claimed`;
  };
  const parts = (done: number) => [[done, 'green']] as const;
  const { barrier } = sight;
  return [
    `${screen.style('bold', 'Muster demo')}: agents count and hash ${units.length} parts of ${nameOf(stage.folder)}  ${screen.clock}`,
    '',
    row('count', `${bar(screen, parts(counted.size), units.length)} ${queue(stage.ids.countId)}; ${stage.files} files`),
    row(
      'hash',
      `${bar(screen, [...parts(hashed.size), [refused.size, 'red']], units.length)} ${queue(stage.ids.hashId)}; ${refused.size} refused`,
    ),
    row('vote', `${bar(screen, parts(stage.accepted), quorum)} ${stage.accepted} of ${quorum} accepted`),
    row('budget', budgetText(screen, sight)),
    row('quota', quotaText(screen, sight)),
    row('barrier', `epoch ${barrier.epoch}: ${barrier.arrivals} of ${barrier.target} have arrived, ${barrier.state}`),
    '',
    ...[...crew, ...(stage.crashed ? [successor] : [])].map(
      (name) => `  ${name.padEnd(7)}${doing(screen, stage, sight, name)}`,
    ),
  ];
}

function budgetText(screen: Screen, { budget }: Sight): string {
  if (!budget) return screen.style('gray', 'none yet');
  const { limit, settled, reserved, available } = budget.balances;
  const parts = [[Number(settled), 'green'] as const, [Number(reserved), 'yellow'] as const];
  return `${bar(screen, parts, Number(limit))} ${money(settled)} settled + ${money(reserved)} reserved + ${money(available)} left = ${money(limit)} EUR`;
}

function quotaText(screen: Screen, { allowance, waits }: Sight): string {
  const { usedUnits, unitsLimit, waiting, cooldownUntil } = allowance;
  const text = `${bar(screen, [[usedUnits, 'green']], unitsLimit)} ${usedUnits} of ${unitsLimit} this second, ${waiting} in line`;
  return cooldownUntil === null
    ? text
    : `${text}; ${screen.style('red', `cooling down ${seconds(cooldownUntil, waits.asOf)}`)}`;
}

function doing(screen: Screen, { crashed, subjects, ids, votes }: Stage, { waits }: Sight, name: string): string {
  const claim = waits.heldClaims.find(({ holder }) => holder === name);
  const subject = claim && (subjects.get(claim.messageId) ?? '');
  if (crashed && name === victim)
    return screen.style(
      'red',
      claim ? `killed; its claim on ${subject} ends in ${seconds(claim.leaseExpiresAt, waits.asOf)}` : 'killed',
    );
  const waiter = waits.waiters.find(({ holder }) => holder === name);
  if (waiter) return screen.style('yellow', `has ${subject}, waits for quota: number ${waiter.position} in line`);
  if (votes.some(({ by }) => by === name)) return screen.style('gray', 'has ended');
  if (!claim) return screen.style('gray', 'waits');
  const verb = claim.mailboxId === ids.countId ? 'counts' : claim.mailboxId === ids.hashId ? 'hashes' : 'checks';
  return `${verb} ${subject}${claim.attempt > 1 ? screen.style('yellow', ` (attempt ${claim.attempt})`) : ''}`;
}
