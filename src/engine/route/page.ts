import { hash } from 'node:crypto';
import Joi from 'joi';
import { idForm } from '../declare/field.ts';
import { exactly } from '../declare/record.ts';
import type { Value } from '../declare/value.ts';
import { apiError } from './errors.ts';
import type { Input } from './route.ts';

/** A page of a list: `{"<plural>": […], "nextCursor": string|null}`. */
export const pageReply = (plural: string, item: Joi.Schema) =>
  exactly({ [plural]: Joi.array().items(item), nextCursor: Joi.string().allow(null) });

/** The formats of a record's position in a list. */
export const positions = { id: idForm, entry: /^\d{1,15}-\d{1,19}$/ };

/** The length of the tag that identifies a list. */
const tagLength = 6;

/**
 * The cursors of a list. Each has a tag that identifies the list (its path and filters), and the position of the page's last
 * record, of the format `form`.
 */
export class Cursors {
  readonly #plural: string;
  readonly #form: RegExp;

  constructor(plural: string, form: RegExp) {
    this.#plural = plural;
    this.#form = form;
  }

  /** The position in the request; '' for the first page. Throws INVALID_CURSOR for a cursor that this list did not issue. */
  read(input: Input<{ readonly cursor?: string | undefined }>): string {
    const { cursor } = input.query;
    if (cursor === undefined) return '';
    const position = Buffer.from(cursor, 'base64url').toString().slice(tagLength);
    if (!this.#form.test(position) || this.next(input, position) !== cursor) throw apiError('INVALID_CURSOR');
    return position;
  }

  /** The cursor after a page's last record; null after the last page. */
  next(input: Input<object>, last: Value | undefined): string | null {
    if (last === null || last === undefined) return null;
    const { cursor: _cursor, limit: _limit, ...filters } = input.query as Record<string, unknown>;
    const list = JSON.stringify([this.#plural, input.params, Object.entries(filters).sort()]);
    const tag = hash('sha256', list, 'base64url').slice(0, tagLength);
    return Buffer.from(`${tag}${last}`).toString('base64url');
  }
}

/** `,READY,CLAIMED,`, in which a script finds a state by a plain text search; '' for all. */
export const statesText = (states: string | undefined): string => (states === undefined ? '' : `,${states},`);

/** For a list that is not read, as no record is in this state. */
export const noState = ',-,';
