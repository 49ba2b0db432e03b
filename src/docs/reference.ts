/**
 * The API reference, by Scalar. Of the renderers for OpenAPI 3.1 (Redoc, Elements, RapiDoc, Swagger UI) it is the only one
 * that shows a call with its examples side by side, has a search, supports phones and dark mode, lets a reader try a call,
 * contacts no other host and needs no eval. URLs are relative, so the page also works behind a proxy that adds a path prefix.
 */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference · Muster</title>
<link rel="icon" href="../console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="api/page.css">
</head>
<body>
<nav id="bar" aria-label="Muster"><p><a href="../docs">Muster docs</a></p><p><a href="errors">Errors</a> <a href="../openapi.json">openapi.json</a> <a href="../console">Console</a></p></nav>
<div id="reference"></div>
<noscript>This page needs JavaScript. The document it shows is <a href="../openapi.json">openapi.json</a>.</noscript>
<script src="api/scalar.js"></script>
<script src="api/page.js"></script>
</body>
</html>
`;

/**
 * The address of a call is made of its name: #tag/mailbox/message.recv. Nothing is sent to Scalar or loaded from it. Errors
 * that many calls share are folded into one line each; openapi.json has them by status. Elements that Scalar leaves without
 * an accessible name get one once they exist.
 */
export const script = `const fold = (document) => {
  const shared = document.components.responses;
  for (const { responses } of Object.values(document.paths).flatMap(Object.values)) {
    const common = Object.entries(responses).filter(([, { $ref }]) => $ref !== undefined);
    for (const [status] of common) delete responses[status];
    const lines = common.map(([status, { $ref }]) =>
      shared[$ref.split('/').at(-1)].description.replaceAll(/^- /gm, '- ' + status + ' '),
    );
    responses.default = {
      description: ['Errors that many calls share:\\n', ...lines].join('\\n'),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return document;
};

const mend = () => {
  const each = (selector, change) => document.querySelectorAll('#reference ' + selector).forEach(change);
  each('button.scalar-code-copy:not([aria-label])', (button) => button.setAttribute('aria-label', 'Copy'));
  each('button.show-more[aria-label^="Show all"]', (button) => button.removeAttribute('aria-label'));
  // A long path breaks before a slash.
  each('.endpoint-path:not(:has(wbr))', (path) =>
    path.replaceChildren(...path.textContent.split(/(?=\\/)/).flatMap((part) => [document.createElement('wbr'), part])),
  );
  each('.response-card[role=region]', (card) => card.setAttribute('role', 'group'));
};
let isDue = false;
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    mend();
  });
}).observe(document.getElementById('reference'), { childList: true, subtree: true });

const show = (document) => Scalar.createApiReference('#reference', {
  content: fold(document),
  servers: [{ url: new URL('..', location.href).href.replace(/\\/$/, '') }],
  generateOperationSlug: ({ operationId, method, path }) => operationId ?? method + path,
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
    ...Object.fromEntries(
      'c clojure csharp dart fsharp go http java js kotlin node objc ocaml php powershell python r ruby rust swift'
        .split(' ')
        .map((name) => [name, true]),
    ),
  },
  hideModels: true,
  defaultOpenFirstTag: false,
  persistAuth: false,
});
const failed = () => {
  document.getElementById('reference').innerText = 'openapi.json could not be read: load the page again.';
};
fetch('../openapi.json').then((answer) => answer.json()).then(show).catch(failed);
`;

export const style = `:root {
  --scalar-custom-header-height: 2.75rem;
  --scalar-font: system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif;
  --scalar-font-code: ui-monospace, SFMono-Regular, 'Liberation Mono', 'DejaVu Sans Mono', monospace;
  --scalar-heading-1: 21px;
  --scalar-paragraph: 15px;
}
.light-mode {
  --scalar-color-2: #51606e;
  --scalar-color-3: #5c6b79;
  --scalar-color-accent: #0b5c8a;
  --scalar-color-orange: #a84300;
  --scalar-color-green: #0a6b48;
  --scalar-color-blue: #0b5c8a;
  --scalar-color-yellow: #7a5d00;
  --scalar-color-red: #a61b1b;
}
.dark-mode {
  --scalar-color-2: #b3bec8;
  --scalar-color-3: #9fb0bf;
  --scalar-color-red: #ff9a8f;
  --scalar-color-green: #4fd08b;
}
body {
  margin: 0;
}
#bar {
  position: sticky;
  top: 0;
  z-index: 20;
  display: flex;
  justify-content: space-between;
  align-items: center;
  height: 2.75rem;
  padding: 0 1rem;
  font: 15px system-ui, 'Liberation Sans', 'DejaVu Sans', sans-serif;
  background: light-dark(#fff, #0f0f0f);
  border-bottom: 1px solid light-dark(#d5dde4, #303b45);
}
#bar p {
  margin: 0;
  display: flex;
  gap: 0.8rem;
}
@media (width < 30rem) {
  #bar {
    font-size: 13px;
  }
}
#bar a {
  color: light-dark(#0b5c8a, #6cbcf0);
}
html {
  overflow-x: clip;
}
.scalar-app section.section {
  padding-block: 28px;
  outline: none;
}
.scalar-app ul.endpoints,
.scalar-app .scalar-card-content:has(> ul.endpoints) {
  max-height: none;
  overflow: hidden;
}
.scalar-app .client-libraries__select {
  min-width: 24px;
}
.scalar-app .flex-1.text-sm.font-medium.whitespace-nowrap {
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
}
.scalar-app .endpoint-path,
.scalar-app .request-card .scalar-card-header-title {
  min-width: 0;
  white-space: normal;
  overflow-wrap: anywhere;
}
`;
