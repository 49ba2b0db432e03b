import type { TraceContext } from '../../engine/route/trace.ts';
import { type Prerequisites, prerequisitesText } from './prerequisites.ts';
import { requiredText, type Wanted } from './requirements.ts';

/** What a send or a submit may say of its message beyond the payload. */
interface MessageOptions extends Prerequisites {
  readonly deadline?: number | undefined;
  readonly delaySeconds?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly retryDelaySeconds?: number | undefined;
  readonly maxRetryDelaySeconds?: number | undefined;
  readonly attemptSeconds?: number | undefined;
  readonly priority?: number | undefined;
  readonly key?: string | undefined;
  readonly requires?: Wanted | undefined;
}

/** Pauses of its own as scripts take them: the first and the longest, each `-` if left out; '' without either. */
export function pausesText({
  retryDelaySeconds: first,
  maxRetryDelaySeconds: longest,
}: Pick<MessageOptions, 'retryDelaySeconds' | 'maxRetryDelaySeconds'>): string {
  return first === undefined && longest === undefined ? '' : `${first ?? '-'} ${longest ?? '-'}`;
}

/** The arguments of lua/mailbox/_options.lua. */
export function optionArgs(options: MessageOptions, trace: TraceContext) {
  const { deadline = '', delaySeconds = '', maxAttempts = '', priority = '', key = '', requires } = options;
  return {
    ...{ deadline, delaySeconds, maxAttempts, priority, key },
    pauses: pausesText(options),
    attemptSeconds: options.attemptSeconds ?? '',
    prerequisites: prerequisitesText(options),
    required: requires ? requiredText(requires) : '',
    ...trace,
  };
}
