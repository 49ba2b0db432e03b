import { collect, send } from './desk.ts';
import { type HashInput, priceOf } from './plan.ts';
import type { Screen } from './screen.ts';
import type { Stage } from './stage.ts';

/** The second act: a budget that runs out, and a shared quota. */
export async function prepareHashing(stage: Stage, screen: Screen): Promise<void> {
  const { muster, counted, ids, files } = stage;
  const limit = (priceOf(files) * 7n) / 10n;
  const budget = { name: 'hashing', currency: 'EUR', scale: 2, limitMinor: String(limit) };
  const { id: budgetId } = await muster.budget.create(budget);
  stage.budgetId = budgetId;
  screen.log('budget', `hashing costs a cent per file, ${files} cents in all; the budget is ${limit} cents`);
  // The most expensive ones last: the budget will not cover them.
  const order = [...counted.values()].sort((a, b) => a.files - b.files).map(({ unit }) => unit);
  const input = (unit: string, index: number): HashInput => {
    return { unit, files: counted.get(unit)?.files ?? 0, budgetId, pause: index === Math.floor(order.length / 3) };
  };
  await send(stage, ids.hashId, order, input);
  const { unitsLimit } = await muster.allowance.view({ allowanceId: ids.allowanceId });
  screen.log('quota', `all agents together may start ${unitsLimit} parts per second; the others wait in line`);
}

/** Ends when every part is hashed and paid for, or refused. */
export async function hash(stage: Stage, screen: Screen): Promise<void> {
  const { hashed, refused, units } = stage;
  await collect(
    stage,
    () => hashed.size + refused.size === units.length,
    (report) => {
      if (report.kind === 'refused' && refused.size === 1)
        screen.log('budget', `used up: ${report.unit} is refused with ${report.code}, before anything is spent`);
    },
  );
  screen.log('hash', `${hashed.size} parts hashed and paid for, ${refused.size} refused`);
}
