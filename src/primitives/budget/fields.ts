import Joi from 'joi';
import { says } from '../../engine/route/fields.ts';

/** Alerts notify a person, or a program that then slows down; more of them would be noise. */
const maxAlerts = 5;
const digits = /^[0-9]{1,18}$/;
const zero = /^0+$/;
const zeros = /^0+(?=[0-9])/;

/**
 * An amount in minor units as stored: a digit string without leading zeros. Leading zeros in a request count towards the 18
 * digits.
 */
export const amount = (least: '0' | '1' = '0') => {
  const rule = `{#label} must be a string of 1 to 18 digits, minor units${least === '1' ? ', more than "0"' : ''}`;
  return Joi.string()
    .custom((value: string, helpers) =>
      digits.test(value) && !(least === '1' && zero.test(value)) ? value.replace(zeros, '') : helpers.error('amount'),
    )
    .error(says({ amount: rule, 'string.base': rule, 'string.empty': rule }))
    .meta({ pattern: digits.source, ...(least === '1' && { not: { pattern: zero.source } }) });
};

/** Percentages of the limit, ascending, as the JSON text for scripts. */
export const alertPercents = (): Joi.AnySchema<string> => {
  const rule = `{#label} must be a list of at most ${maxAlerts} whole numbers from 1 to 100, ascending`;
  return Joi.array()
    .items(Joi.number().integer().min(1).max(100))
    .max(maxAlerts)
    .custom((value: number[], helpers) =>
      value.every((percent, i) => i === 0 || percent > (value[i - 1] ?? 0))
        ? JSON.stringify(value)
        : helpers.error('array.sort'),
    )
    .error(says(rule.replace('{#label} ', '')))
    .description('the percentages of the limit at which its use is announced, each once in a window')
    .example([50, 80]) as unknown as Joi.AnySchema<string>;
};

/** An ISO 4217 code: three letters, stored in upper case. */
export const currency = () => {
  const rule = '{#label} must be three letters, like EUR';
  return Joi.string()
    .custom((value: string, helpers) => (/^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : helpers.error('currency')))
    .error(says({ currency: rule, 'string.base': rule, 'string.empty': rule }))
    .meta({ pattern: '^[A-Za-z]{3}$' });
};
