import type { Tags } from '../protocol.ts';
import { request as ask, measure } from '../thread.ts';

interface Params {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tags?: Tags;
  readonly responseCallback?: (status: number) => boolean;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 400;

function request(method: string, url: string, body: string | null, params: Params = {}) {
  const { headers = {}, tags = {}, responseCallback = isSuccess } = params;
  const answer = ask({ method, url, body, headers });
  measure({ metric: 'http_reqs', kind: 'counter', value: 1, tags });
  measure({ metric: 'http_req_duration', kind: 'trend', value: answer.durationMs, tags });
  const isFailed = !responseCallback(answer.status);
  measure({ metric: 'http_req_failed', kind: 'rate', value: Number(isFailed), tags });
  return { status: answer.status, body: answer.body, headers: answer.headers, json: () => JSON.parse(answer.body) };
}

const expectedStatuses =
  (...statuses: number[]) =>
  (status: number): boolean =>
    statuses.includes(status);

export default { request, expectedStatuses };
