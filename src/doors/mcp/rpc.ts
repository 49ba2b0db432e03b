/** The codes of JSON-RPC 2.0. */
export const rpcCodes = { parseError: -32_700, invalidRequest: -32_600, refused: -32_000 };

/** A JSON-RPC error. id: of the message answered; null if unknown. */
export function rpcError(code: number, message: string, id: unknown = null, data?: object): string {
  const isId = typeof id === 'string' || typeof id === 'number';
  return JSON.stringify({ jsonrpc: '2.0', id: isId ? id : null, error: { code, message, ...(data && { data }) } });
}
