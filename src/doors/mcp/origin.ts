/** The server a request was sent to. */
export interface Server {
  readonly host: string | undefined;
  /** The address of this machine that the connection was made to. */
  readonly address: string;
  readonly publicUrl: string | undefined;
}

const loopbackAddress = /^(::ffff:)?127\.|^::1$/;
/** A loopback host with or without port, as URLs spell it. */
const loopbackHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/**
 * Whether pages of this origin may call; only browsers send an origin. It must be the host that the request was sent to, and
 * that must be a name of this server, since an attacker may point their own name at this address (DNS rebinding). Without
 * PUBLIC_URL, a server reached from other machines does not know its names.
 */
export function mayCall(origin: string, { host, address, publicUrl }: Server): boolean {
  const [scheme = ''] = origin.split('//', 1);
  const from = hostOf(origin);
  if (from === undefined || from !== hostOf(`${scheme}//${host ?? ''}`)) return false;
  if (publicUrl !== undefined && from === hostOf(publicUrl)) return true;
  return loopbackAddress.test(address) ? loopbackHost.test(from) : publicUrl === undefined;
}

/** The host in lower case, without the scheme's default port. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}
