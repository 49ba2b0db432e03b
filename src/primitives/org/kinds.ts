import Joi from 'joi';
import { Field, number } from '../../engine/declare/field.ts';
import type { Figure } from './plans.ts';

/** A number, or `unlimited`. */
export const figure = () =>
  new Field<Figure>({
    lua: 'text',
    read: (value) => (value === 'unlimited' ? value : Number(value)),
    schema: () => Joi.alternatives(number().schema, Joi.valid('unlimited')),
  });

/** A comma-separated list of names. known: the allowed names; by default any. */
export const list = <S extends string>(...known: readonly S[]) =>
  new Field<readonly S[]>({
    lua: 'text',
    read: (value) => (value === '' ? [] : (String(value).split(',') as S[])),
    schema: () => Joi.array().items(known.length === 0 ? Joi.string() : Joi.string().valid(...known)),
  });

/** JSON. A malformed value is returned as text, so that it does not make the whole list unreadable. */
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
