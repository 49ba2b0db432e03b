/** URLs are relative, so the page also works behind a proxy that adds a path prefix. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Muster API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="api/swagger-ui.css">
<link rel="stylesheet" href="api/page.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The document it shows is <a href="../openapi.json">openapi.json</a>.</noscript>
<script src="api/swagger-ui-bundle.js"></script>
<script src="api/page.js"></script>
</body>
</html>
`;

/** validatorUrl is null so that the document is not sent to a validation service. */
export const script = `SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelExpandDepth: 3,
  defaultModelsExpandDepth: -1,
  defaultModelRendering: 'model',
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  showCommonExtensions: true,
  syntaxHighlight: { activated: true, theme: 'idea' },
  validatorUrl: null,
});
`;

export const style = `body { margin: 0; background: #fafafa; }
.swagger-ui .info { margin: 28px 0 20px; }
.swagger-ui .scheme-container { padding: 14px 0; }
.swagger-ui .schemes-server-container, .swagger-ui .response-col_links { display: none; }
.swagger-ui .opblock-tag { text-transform: capitalize; }
`;
