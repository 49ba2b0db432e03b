/** What orval's functions call: its clients have no setting for a server's address and a key. */
const access = { url: '', key: '' };

export function setAccess({ url, key }: { url: string; key: string }): void {
  Object.assign(access, { url, key });
}

export async function request<T>(path: string, init: RequestInit): Promise<T> {
  const headers = { ...init.headers, Authorization: `Bearer ${access.key}` };
  const response = await fetch(access.url + path, { ...init, headers });
  const text = await response.text();
  const data: unknown = text === '' ? undefined : JSON.parse(text);
  return { data, status: response.status, headers: response.headers } as T;
}
