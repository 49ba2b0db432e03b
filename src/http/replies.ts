import Joi from 'joi';

/** The kinds of field that answers are made of. Every field is always there; absent values are null. */

export const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const replyId = () => Joi.string().pattern(idForm);

/** ISO 8601 UTC with milliseconds. */
export const time = () => Joi.string().pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** How many; 0 for none. */
export const count = () => Joi.number().integer().min(0);

/** A record with exactly these fields. */
export const record = (schemas: Record<string, Joi.Schema>) =>
  Joi.object(schemas).prefs({ convert: false, presence: 'required' });

/** A page of a list: `{"<plural>": […], "nextCursor": string|null}`. */
export const pageReply = (plural: string, item: Joi.Schema) =>
  record({ [plural]: Joi.array().items(item), nextCursor: Joi.string().allow(null) });
