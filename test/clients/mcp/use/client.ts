/** The MCP server of a space, and a key for it. */
export interface Access {
  readonly url: string;
  readonly key: string;
}

/** A tool as the client offers it to a model. */
export interface Offered {
  readonly name: string;
  readonly description: string | undefined;
  /** The JSON schema of its arguments. */
  readonly schema: unknown;
}

/** A model's view of an answer. */
export interface Answered {
  readonly isError: boolean;
  /** The first text, which is the JSON of the answer or of the refusal. */
  readonly text: string;
}

/** A client of another maker, connected as its manual says. */
export interface Connected {
  readonly tools: readonly Offered[];
  /** Calls a tool as the maker's own loop does for a model. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<Answered>;
  close(): Promise<void>;
}

/** The first text of an answer's content. */
export function firstText(content: unknown): string {
  const [first] = Array.isArray(content) ? content : [content];
  if (typeof first?.text !== 'string') throw new Error(`no text: ${JSON.stringify(content)}`);
  return first.text;
}
