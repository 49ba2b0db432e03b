import Joi from 'joi';
import { cursor, moment, optional, queryInteger, says } from '../../engine/route/fields.ts';
import type { EventNames } from './names.ts';
import type { Entry } from './record.ts';

const recordForm = /^([a-z]+):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

function listed(test: (text: string) => boolean, rule: string): Joi.AnySchema<string | undefined> {
  return Joi.string()
    .custom((value: string, helpers) => (test(value) ? value : helpers.error('listed')))
    .optional()
    .error(says({ listed: rule, 'string.base': '{#label} must be given once', 'string.empty': rule }));
}

/** The query parameters `limit` and `cursor`. */
export const limit = () => queryInteger(1, 500, 100).description('the most events of an answer');
export const position = () =>
  cursor()
    .description(
      'the nextCursor of an earlier answer, or `latest` for events from now on; by default the journal is read from its oldest event',
    )
    .meta({ model: 'nextCursor of an earlier answer, or `latest` for new events' });

/** The query parameter `since`: where to start without a cursor. */
export const since = () =>
  optional(moment())
    .description(
      'the moment to begin at, if there is no cursor; if it is more than an hour ago, up to 1,000 earlier events may come first',
    )
    .meta({ model: 'begin at this moment, without a cursor' });

/** The query parameters `types` and `aggregate`. */
export function filterFields(names: EventNames) {
  const { aggregates } = names;
  const isAggregate = (text: string): boolean => {
    const [, name] = recordForm.exec(text) ?? [];
    return name === undefined ? text.split(',').every((one) => aggregates.includes(one)) : aggregates.includes(name);
  };
  return {
    types: listed(
      (value) => value.split(',').every((one) => names.isPattern(one)),
      '{#label} must be event types like message.sent, aggregates like message.*, or a comma-separated list of them',
    )
      .description('only these types, comma-separated; `message.*`: all of a kind')
      .meta({ model: 'with commas in between' }),
    aggregate: listed(
      isAggregate,
      `{#label} must be a comma-separated list of ${aggregates.join(', ')}, or one of them with an id, like budget:<uuid>`,
    )
      .description('only events of these kinds, comma-separated, or of one object: `message:<id>`')
      .meta({ model: 'kinds, or one object: `message:<id>`' }),
  };
}

export interface FilterQuery {
  readonly types?: string | undefined;
  readonly aggregate?: string | undefined;
  readonly scopeId?: string | undefined;
}

/** Selects the events of a watch. `isBelow`: whether a scope is in the subtree of another. */
export class Filter {
  /** Equal for equal filters. */
  readonly name: string;
  readonly scopeId: string | undefined;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #aggregates: ReadonlySet<string> | undefined;
  readonly #aggregateId: string | undefined;
  readonly #isBelow: (scopeId: string, above: string) => boolean;

  constructor({ types, aggregate, scopeId }: FilterQuery, isBelow: (scopeId: string, above: string) => boolean) {
    this.name = JSON.stringify([types, aggregate, scopeId]);
    this.scopeId = scopeId;
    this.#isBelow = isBelow;
    const [, name, id] = recordForm.exec(aggregate ?? '') ?? [];
    this.#aggregateId = id?.toLowerCase();
    this.#aggregates =
      aggregate === undefined ? undefined : new Set(name === undefined ? aggregate.split(',') : [name]);
    this.#types = types === undefined ? undefined : new Set(types.split(','));
  }

  matches(entry: Entry): boolean {
    if (this.#types && !this.#types.has(entry.type) && !this.#types.has(`${entry.aggregate}.*`)) return false;
    if (this.#aggregates && !this.#aggregates.has(entry.aggregate)) return false;
    if (this.#aggregateId !== undefined && this.#aggregateId !== entry.aggregateId) return false;
    if (this.scopeId === undefined || entry.scopeId === this.scopeId) return true;
    return this.#isBelow(entry.scopeId, this.scopeId);
  }
}
