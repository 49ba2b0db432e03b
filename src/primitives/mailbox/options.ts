import type { TraceContext } from '../../engine/route/trace.ts';
import { type Prerequisites, prerequisitesText } from './prerequisites.ts';
import { requiredText, type Wanted } from './requirements.ts';

/** What a send or a submit may say of its message beyond the payload. */
interface MessageOptions extends Prerequisites {
  readonly deadline?: number | undefined;
  readonly delaySeconds?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly priority?: number | undefined;
  readonly key?: string | undefined;
  readonly requires?: Wanted | undefined;
}

/** The arguments of lua/mailbox/_options.lua. */
export function optionArgs(options: MessageOptions, trace: TraceContext) {
  const { deadline = '', delaySeconds = '', maxAttempts = '', priority = '', key = '', requires } = options;
  return {
    ...{ deadline, delaySeconds, maxAttempts, priority, key },
    prerequisites: prerequisitesText(options),
    required: requires ? requiredText(requires) : '',
    ...trace,
  };
}
