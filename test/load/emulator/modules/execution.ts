import { iteration } from '../thread.ts';

export default {
  vu: {
    get iterationInScenario(): number {
      return iteration;
    },
  },
};
