import { type ErrorTable, entry } from '../call/errors.ts';

export const batchErrors: ErrorTable = {
  EXPECTATION_FAILED: entry(409, (detail) => {
    const [member = '…', found = '…', wanted = '…'] = detail.split('\t');
    return `${member} is ${found}, but the call expects ${wanted}: nothing of the batch was done`;
  }),
};
