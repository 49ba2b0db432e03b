import { getRandomValues } from 'node:crypto';

export const randomBytes = (size: number): ArrayBuffer => getRandomValues(new Uint8Array(size)).buffer;
