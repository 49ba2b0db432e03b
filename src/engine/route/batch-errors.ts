import { advised, type ErrorTable } from './errors.ts';

export const batchErrors: ErrorTable = {
  EXPECTATION_FAILED: advised('nothing was done; read what has changed, and decide anew', 409, (detail) => {
    const [member = '…', found = '…', wanted = '…'] = detail.split('\t');
    return `${member} is ${found}, but the call expects ${wanted}: no call of the batch took effect`;
  }),
};
