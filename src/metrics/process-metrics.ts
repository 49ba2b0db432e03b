import { collectDefaultMetrics, Registry } from 'prom-client';

/** A timer of this period measures the event loop; a shorter one would cost more than it tells. */
const loopResolutionMs = 20;

let registry: Registry | undefined;

/** CPU, memory, garbage collection and event loop lag: one set for the process, however many services it starts. */
export function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopResolutionMs });
    // Gauges that are named like counters, from private parts of Node.
    for (const kind of ['resources', 'handles', 'requests'])
      for (const suffix of ['', '_total']) registry.removeSingleMetric(`nodejs_active_${kind}${suffix}`);
  }
  return registry;
}
