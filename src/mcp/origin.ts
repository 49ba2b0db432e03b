/** Where a request was sent to. */
export interface Server {
  /** The header Host. */
  readonly host: string | undefined;
  /** The address of this machine that the connection came to. */
  readonly address: string;
  readonly publicUrl: string | undefined;
}

const loopbackAddress = /^(::ffff:)?127\.|^::1$/;
/** With a port or not, as URLs spell them. */
const loopbackHost = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/**
 * Whether pages of this origin may call; only browsers send one. It must be the host that the request was sent to, and a name of
 * this server: an attacker may make a name of their own lead here (DNS rebinding). Without PUBLIC_URL, a server that is
 * reached from other machines does not know its names.
 */
export function mayCall(origin: string, { host, address, publicUrl }: Server): boolean {
  const [scheme = ''] = origin.split('//', 1);
  const from = hostOf(origin);
  if (from === undefined || from !== hostOf(`${scheme}//${host ?? ''}`)) return false;
  if (publicUrl !== undefined && from === hostOf(publicUrl)) return true;
  return loopbackAddress.test(address) ? loopbackHost.test(from) : publicUrl === undefined;
}

/** Lower-cased, without the port that the scheme has anyway. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}
