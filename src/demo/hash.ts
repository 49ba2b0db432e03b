import { collect, send } from './desk.ts';
import { type HashInput, priceOf } from './plan.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';

/** The second act: a budget that runs out and a quota that all share. */
export async function prepareHashing(stage: Stage, screen: Screen): Promise<void> {
  const { muster, counted, ids, files } = stage;
  const limit = (priceOf(files) * 7n) / 10n;
  const budget = { name: 'hashing', currency: 'EUR', scale: 2, limitMinor: String(limit) };
  const { id: budgetId } = await muster.budget.create(budget);
  stage.budgetId = budgetId;
  screen.tell('budget', `hashing costs a cent a file, ${files} cents for all; there are ${limit} cents`);
  // The dearest last: it is they that the budget will not allow.
  const order = [...counted.values()].sort((a, b) => a.files - b.files).map(({ unit }) => unit);
  const input = (unit: string, index: number): HashInput => {
    return { unit, files: counted.get(unit)?.files ?? 0, budgetId, pause: index === Math.floor(order.length / 3) };
  };
  await send(stage, ids.hashId, order, input);
  const { unitsLimit } = await muster.allowance.view({ allowanceId: ids.allowanceId });
  screen.tell('quota', `all agents together may begin ${unitsLimit} parts a second; who comes too early waits in line`);
}

/** Ends when every part is hashed and paid for, or refused. */
export async function hash(stage: Stage, screen: Screen): Promise<void> {
  const { hashed, refused, units } = stage;
  await collect(
    stage,
    () => hashed.size + refused.size === units.length,
    (report) => {
      if (report.kind === 'refused' && refused.size === 1)
        screen.tell('budget', `used up: ${report.unit} is refused with ${report.code}, before anything is spent`);
    },
  );
  screen.tell('hash', `${hashed.size} parts hashed and paid for, ${refused.size} refused`);
}
