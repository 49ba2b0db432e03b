import { Cluster } from 'ioredis';

/**
 * The client for the calls of requests on a cluster. While it knows no cluster at all, a call fails at once; each
 * node's own queue holds what is sent while it connects.
 */
export class CallsCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready') return super.sendCommand(command, stream, node);
    command.reject(new Error('Connection is closed.'));
    return command.promise;
  }
}
