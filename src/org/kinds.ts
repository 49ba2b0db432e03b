import Joi from 'joi';
import { Field, number } from '../declare/field.ts';
import type { Figure } from './plans.ts';

/** A number, or `unlimited`. */
export const figure = () =>
  new Field<Figure>({
    lua: 'text',
    read: (value) => (value === 'unlimited' ? value : Number(value)),
    schema: () => Joi.alternatives(number().schema, Joi.valid('unlimited')),
  });

/** Names with commas between. */
export const list = <S extends string>() =>
  new Field<readonly S[]>({
    lua: 'text',
    read: (value) => (value === '' ? [] : (String(value).split(',') as S[])),
    schema: () => Joi.array().items(Joi.string()),
  });

/** JSON; an entry that has something else must not hide all others. */
export const json = () =>
  new Field<unknown>({
    lua: 'text',
    read: (value) => {
      try {
        return JSON.parse(String(value));
      } catch {
        return value;
      }
    },
    schema: () => Joi.any(),
  });
