/** @typedef {{ values: Record<string, number>, thresholds?: Record<string, { ok: boolean }> }} Metric */

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(3)} %`;
/** @param {number | undefined} value */
const ms = (value) => (value ?? 0).toFixed(1).padStart(9);

/**
 * The summary that k6 prints at the end: errors, invariants, and the latency of each operation.
 * @param {string} name
 * @param {string[]} operations
 * @returns {(data: any) => Record<string, string>}
 */
export function summaryOf(name, operations) {
  return (data) => {
    /** @type {Record<string, Metric>} */
    const metrics = data.metrics;
    /** @param {string} metric @param {string} value */
    const value = (metric, value) => metrics[metric]?.values[value] ?? 0;
    const lines = [
      '',
      `muster ${name}: ${value('iterations', 'count')} iterations, ${value('http_reqs', 'count')} requests, ${value('http_reqs', 'rate').toFixed(0)} a second`,
      '',
      `${'operation'.padEnd(12)}${'requests'.padStart(9)}${'median ms'.padStart(11)}${'p95 ms'.padStart(9)}${'max ms'.padStart(9)}`,
    ];
    for (const operation of operations) {
      const values = metrics[`http_req_duration{operation:${operation}}`]?.values ?? {};
      const count = String(values['count'] ?? 0).padStart(9);
      lines.push(`${operation.padEnd(12)}${count}  ${ms(values['med'])}${ms(values['p(95)'])}${ms(values['max'])}`);
    }
    const held = value('invariants', 'passes');
    const missed = Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
      Object.entries(thresholds)
        .filter(([, { ok }]) => !ok)
        .map(([threshold]) => `${metric} ${threshold}`),
    );
    lines.push(
      '',
      `errors      ${percent(1 - value('checks', 'rate'))} of checks, ${percent(value('http_req_failed', 'rate'))} of requests`,
      `held back   ${value('held_back', 'count')} times by a rate limit (429)`,
      `invariants  ${held} of ${held + value('invariants', 'fails')} hold`,
      missed.length === 0 && held > 0
        ? 'PASS'
        : `FAIL: ${missed.join(', ') || 'the run did not get to the invariants'}`,
      '',
    );
    return { stdout: lines.join('\n') };
  };
}
