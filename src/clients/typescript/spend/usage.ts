/** The usage of a model call. */
export interface Usage {
  /** The whole input, cached or not. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of the input read from the provider's cache. */
  readonly cachedTokens: number;
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;

export function addUsage(one: Usage, other: Partial<Usage>): Usage {
  return {
    inputTokens: one.inputTokens + (other.inputTokens ?? 0),
    outputTokens: one.outputTokens + (other.outputTokens ?? 0),
    cachedTokens: one.cachedTokens + (other.cachedTokens ?? 0),
  };
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const numberIn = (object: unknown, name: string): number | undefined => {
  const value = isObject(object) ? object[name] : undefined;
  return typeof value === 'number' && value >= 0 ? value : undefined;
};

/** The `usage` in an answer's JSON, in the formats of OpenAI and Anthropic; undefined if there is none. */
export function usageIn(body: unknown): Usage | undefined {
  const usage = isObject(body) ? body['usage'] : undefined;
  const input = numberIn(usage, 'input_tokens') ?? numberIn(usage, 'prompt_tokens');
  const output = numberIn(usage, 'output_tokens') ?? numberIn(usage, 'completion_tokens');
  if (input === undefined && output === undefined) return undefined;
  // Anthropic counts input written to and read from its cache separately; OpenAI includes it in the input.
  const read = numberIn(usage, 'cache_read_input_tokens');
  const written = numberIn(usage, 'cache_creation_input_tokens') ?? 0;
  const details = isObject(usage) ? (usage['prompt_tokens_details'] ?? usage['input_tokens_details']) : undefined;
  return {
    inputTokens: (input ?? 0) + (read ?? 0) + written,
    outputTokens: output ?? 0,
    cachedTokens: read ?? numberIn(details, 'cached_tokens') ?? 0,
  };
}
