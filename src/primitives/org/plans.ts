import { InvalidInput } from './input.ts';

/** A plan's figure: a whole number, or no limit. */
export type Figure = number | 'unlimited';

/**
 * The limits of a plan: operations per month, concurrent agents, spaces, active runs, active tasks, unrevoked keys, requests
 * per minute, days that finished work is kept, and bytes that one space keeps.
 */
export interface PlanFigures {
  operations: Figure;
  agents: Figure;
  spaces: Figure;
  runs: Figure;
  tasks: Figure;
  keys: Figure;
  rpm: Figure;
  retentionDays: Figure;
  retainedBytes: Figure;
}
export type FigureName = keyof PlanFigures;
export type PlanName = 'free' | 'builder' | 'team' | 'scale' | 'enterprise' | 'preview';

const unlimited = 'unlimited';

/** See docs/reference.md, "Plan limits". The figures of `enterprise` are its defaults. */
export const plans: Readonly<Record<PlanName, Readonly<PlanFigures>>> = {
  free: row(100_000, 10, 2, 200, 1_000, 10, 600, 7, 256 * 1024 * 1024),
  builder: row(2_000_000, 100, 10, 1_000, 10_000, 25, 1_500, 14, unlimited),
  team: row(15_000_000, 1_000, unlimited, 10_000, 100_000, 100, 3_000, 30, unlimited),
  scale: row(100_000_000, 5_000, unlimited, 50_000, 500_000, 500, 20_000, 90, unlimited),
  enterprise: row(unlimited, unlimited, unlimited, unlimited, unlimited, unlimited, unlimited, 365, unlimited),
  preview: row(unlimited, unlimited, 3, 200, 1_000, 10, 600, 7, unlimited),
};
export const planNames = Object.keys(plans) as PlanName[];
export const figureNames = Object.keys(plans.free) as FigureName[];

/** Far beyond any use, but exact as a Lua number and as its text. */
const largestFigure = 1_000_000_000_000;

/**
 * The figures of a plan. Only `enterprise` takes custom ones, each the text of a whole number or `unlimited`.
 *
 * @throws InvalidInput for an unknown plan, for a figure of another plan, for a bad figure
 */
export function figuresOf(plan: string, custom: Partial<Record<FigureName, string>> = {}): PlanFigures {
  if (!isPlan(plan)) throw new InvalidInput(`plan: "${plan}" is not one of ${planNames.join(', ')}`);
  const figures: PlanFigures = { ...plans[plan] };
  for (const name of figureNames) {
    const text = custom[name];
    if (text === undefined) continue;
    if (plan !== 'enterprise') {
      throw new InvalidInput(`${name}: only the enterprise plan takes custom figures, and the plan is ${plan}`);
    }
    figures[name] = readFigure(name, text);
  }
  return figures;
}

function isPlan(text: string): text is PlanName {
  return Object.hasOwn(plans, text);
}

function readFigure(name: FigureName, text: string): Figure {
  if (text === unlimited) return unlimited;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= largestFigure) return value;
  throw new InvalidInput(
    `${name}: "${text}" must be a whole number from 1 to ${largestFigure}, or the word ${unlimited}`,
  );
}

function row(...figures: [Figure, Figure, Figure, Figure, Figure, Figure, Figure, Figure, Figure]): PlanFigures {
  const [operations, agents, spaces, runs, tasks, keys, rpm, retentionDays, retainedBytes] = figures;
  return { operations, agents, spaces, runs, tasks, keys, rpm, retentionDays, retainedBytes };
}
