/**
 * The script of the API reference. The address of a call is made of its name: #tag/mailbox/message.recv. Nothing is sent to
 * Scalar or loaded from it. Errors that many calls share are folded into one line each; openapi.json has them by status.
 * Elements that Scalar leaves without an accessible name get one once they exist.
 */

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: object;
}

interface Call {
  readonly responses: Record<string, Response>;
}

interface OpenApi {
  readonly components: { readonly responses: Readonly<Record<string, { readonly description: string }>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>;
}

interface Operation {
  readonly operationId?: string;
  readonly method: string;
  readonly path: string;
}

declare const Scalar: { createApiReference(selector: string, settings: object): void };

function fold(openapi: OpenApi): OpenApi {
  const shared = openapi.components.responses;
  for (const { responses } of Object.values(openapi.paths).flatMap((calls) => Object.values(calls))) {
    const lines = Object.entries(responses).flatMap(([status, { $ref }]) => {
      if ($ref === undefined) return [];
      delete responses[status];
      const { description = '' } = shared[$ref.split('/').at(-1) ?? ''] ?? {};
      return [description.replaceAll(/^- /gm, `- ${status} `)];
    });
    responses['default'] = {
      description: ['Errors that many calls share:\n', ...lines].join('\n'),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return openapi;
}

const reference = document.querySelector<HTMLElement>('#reference');
if (!reference) throw new Error('there is no #reference');

function mend(): void {
  const each = (selector: string, change: (element: Element) => void): void =>
    document.querySelectorAll(`#reference ${selector}`).forEach(change);
  each('button.scalar-code-copy:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy'));
  each('button.show-more[aria-label^="Show all"]', (button) => button.removeAttribute('aria-label'));
  // A long path breaks before a slash.
  each('.endpoint-path:not(:has(wbr))', (path) => {
    const parts = (path.textContent ?? '').split(/(?=\/)/);
    path.replaceChildren(...parts.flatMap((part) => [document.createElement('wbr'), part]));
  });
  each('.response-card[role=region]', (card) => card.setAttribute('role', 'group'));
}

let isDue = false;
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    mend();
  });
}).observe(reference, { childList: true, subtree: true });

/** All other languages of Scalar's examples. */
const hiddenLanguages =
  'c clojure csharp dart fsharp go http java js kotlin node objc ocaml php powershell python r ruby rust swift';

const show = (openapi: OpenApi): void =>
  Scalar.createApiReference('#reference', {
    content: fold(openapi),
    servers: [{ url: new URL('..', location.href).href.replace(/\/$/, '') }],
    generateOperationSlug: ({ operationId, method, path }: Operation) => operationId ?? method + path,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    hideClientButton: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients: {
      shell: ['httpie', 'wget'],
      ...Object.fromEntries(hiddenLanguages.split(' ').map((name) => [name, true])),
    },
    hideModels: true,
    defaultOpenFirstTag: false,
    persistAuth: false,
  });

fetch('../openapi.json')
  .then((answer) => answer.json() as Promise<OpenApi>)
  .then(show)
  .catch(() => {
    reference.innerText = 'openapi.json could not be read: load the page again.';
  });
