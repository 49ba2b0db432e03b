import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';

/** Finds the addresses of a host name; tests put another in its place. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** A name server that says nothing is given up after this long, twice. */
const patienceMs = 2_500;
const tries = 2;

/**
 * Looks names up by sockets of its own. The system's look-up blocks one of the process's few threads for as long as a
 * name server hangs, so one dead zone would delay every destination; it is asked only where a server has answered that
 * it knows no such name, which leaves search domains and other local sources to it.
 *
 * @param servers other than the system's name servers, `address:port`
 * @param timeout milliseconds that a name server is waited for, each of two times
 */
export function resolver(servers?: readonly string[], timeout = patienceMs): Resolve {
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

/** Read anew each time: it is small, and operators change it while we run. */
async function fromHostsFile(hostname: string): Promise<LookupAddress[]> {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  // With its final dot, which a URL keeps, it is the same name.
  const wanted = hostname.toLowerCase().replace(/\.$/, '');
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
    .filter(([, ...names]) => names.includes(wanted))
    .map(([address = '']) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
