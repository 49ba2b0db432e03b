import { randomUUID } from 'node:crypto';
import type { Heard } from '../caller.ts';
import type { Operation } from '../history.ts';
import { Shared } from './scene.ts';

export const gaugeUnits = 60;
/** A window that does not roll while a test runs. */
const windowSeconds = 31_536_000;

interface Gauge {
  readonly id: string;
  /** Consumptions that somebody may settle. */
  readonly known: string[];
}

const available = ({ availableUnits }: Heard['body']): Operation['value'] => ({ available: availableUnits });

/**
 * An allowance that clients consume. They settle the units really used, fewer or more, and report the provider's
 * remaining units.
 */
export class GaugeScene extends Shared<Gauge> {
  protected async make(client: number): Promise<Gauge | undefined> {
    const body = { name: randomUUID(), unitsLimit: gaugeUnits, windowSeconds };
    const id = await this.create(client, 'gauge', '/allowances', body);
    return id === undefined ? undefined : { id, known: [] };
  }

  protected async use(client: number, { id, known }: Gauge): Promise<void> {
    const { load, access } = this;
    const { chance } = load;
    const object = `gauge ${id}`;
    const choice = chance.next();
    if (choice < 0.5) {
      const units = 1 + chance.below(12);
      const { body } = await load.call(client, access, {
        ...{ kind: 'take', object, input: { units }, path: `/allowances/${id}/consume` },
        body: { scopeId: randomUUID(), holder: 'h', units },
        read: (answer) => ({ id: answer.id, ...available(answer) }),
        refuses: ['ALLOWANCE_EXHAUSTED'],
      });
      if (body.id) known.push(body.id);
      return;
    }
    if (choice < 0.85 && known.length > 0) {
      const consumption = chance.of(known);
      const units = chance.below(14);
      await load.call(client, access, {
        ...{ kind: 'correct', object, input: { consumption, units }, body: { units }, read: available },
        path: `/allowances/${id}/consumptions/${consumption}/settle`,
        refuses: ['CONSUMPTION_SETTLED'],
      });
      return;
    }
    // Without resetAt, an observation starts no cooldown.
    const remainingUnits = 20 + chance.below(gaugeUnits - 20);
    await load.call(client, access, {
      ...{ kind: 'observe', object, input: { remaining: remainingUnits }, path: `/allowances/${id}/observe` },
      ...{ body: { remainingUnits }, read: available },
    });
  }
}
