import Joi from 'joi';
import { Field, moneySum } from '../../engine/declare/field.ts';

/** A list of whole percentages, stored as JSON. */
export const percentages = () =>
  new Field<readonly number[]>({
    lua: 'text',
    isWord: true,
    read: (value) => JSON.parse(String(value)) as number[],
    absent: [],
    schema: () => Joi.array().items(Joi.number().integer().min(1).max(100)),
  });

/** Amounts by name; scripts reply with a list of names and amounts. */
export const amountsByName = () =>
  new Field<Readonly<Record<string, string>>>({
    lua: 'text',
    read: (amounts) => {
      const pairs = amounts as unknown as readonly (readonly [name: string, amountMinor: string])[];
      return Object.fromEntries([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    schema: () => Joi.object().pattern(Joi.string(), moneySum().schema),
  });
