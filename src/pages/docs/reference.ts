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
