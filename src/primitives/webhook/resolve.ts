import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';

/** Finds the addresses of a host name; tests replace it. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** Timeout of each of two tries to ask a name server. */
const timeoutMs = 2_500;
const tries = 2;

/**
 * Resolves names over its own sockets. The system's lookup blocks one of the process's few threads while a name server hangs,
 * so one dead zone would delay every destination. It is used only after a server has answered that the name does not exist,
 * for search domains and other local sources.
 *
 * @param servers name servers to use instead of the system's, `address:port`
 * @param timeout milliseconds to wait for a name server, in each of two tries
 */
export function resolver(servers?: readonly string[], timeout = timeoutMs): Resolve {
  const resolving = new dns.Resolver({ timeout, tries });
  if (servers) resolving.setServers(servers);
  return async (hostname) => {
    const local = await fromHostsFile(hostname);
    if (local.length > 0) return local;
    const [four, six] = await Promise.allSettled([resolving.resolve4(hostname), resolving.resolve6(hostname)]);
    const found = [...ofFamily(four, 4), ...ofFamily(six, 6)];
    if (found.length > 0) return found;
    const failure: NodeJS.ErrnoException = four.status === 'rejected' ? four.reason : new Error('no address');
    if (failure.code !== 'ENOTFOUND' && failure.code !== 'ENODATA') throw failure;
    return dns.lookup(hostname, { all: true, verbatim: true });
  };
}

function ofFamily(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
}

/** Not cached: the file is small and may change while the process runs. */
async function fromHostsFile(hostname: string): Promise<LookupAddress[]> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  // A URL keeps a trailing dot; the name is the same without it.
  const wanted = hostname.toLowerCase().replace(/\.$/, '');
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(wanted))
    .map(([address = '']) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
