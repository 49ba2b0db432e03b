import { product } from '../../src/primitives/primitives.ts';
import { limitsAt } from '../../src/primitives/space/limits.ts';

export const { limits: spaceLimits } = product;
export const defaultLimits = limitsAt(spaceLimits, 'default');
export const maximumLimits = limitsAt(spaceLimits, 'max');
