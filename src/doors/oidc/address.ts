const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether an answer from this address cannot be changed on its way: https, or http that never leaves this machine. */
export function isAuthentic(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}
