import { hash } from 'node:crypto';

/** The style of the pages. It is part of each page, because a page loads nothing else. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f3f6f8, #12181d);
  --card: light-dark(#fff, #1b232a);
  --text: light-dark(#17212b, #e6edf3);
  --quiet: light-dark(#51606e, #9fb0bf);
  --line: light-dark(#d5dde4, #303b45);
  --accent: light-dark(#0b5c8a, #6cbcf0);
  --on-accent: light-dark(#fff, #0d1419);
  --good: light-dark(#1a6b3c, #6fd39a);
  --bad: light-dark(#a32020, #ff9d94);
}
* { box-sizing: border-box; }
body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  place-items: center;
  padding: 1rem;
  background: var(--ground);
  color: var(--text);
  font: 1.0625rem/1.5 system-ui, "Liberation Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere;
}
main {
  width: 100%;
  max-width: 34rem;
  padding: 1.5rem 1.25rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 14px;
  box-shadow: 0 1px 2px #0001, 0 8px 24px #0000000f;
}
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--quiet); }
h1.good { font-size: 1.35rem; color: var(--good); }
h1.plain { font-size: 1.35rem; color: var(--text); }
.question { margin: 0.75rem 0 1.25rem; font-size: 1.35rem; line-height: 1.35; font-weight: 600; white-space: pre-wrap; }
pre {
  margin: 0.75rem 0 1.25rem;
  padding: 0.8rem;
  max-height: 24rem;
  overflow: auto;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--ground);
  font: 0.9rem/1.45 ui-monospace, "Liberation Mono", "DejaVu Sans Mono", monospace;
  white-space: pre-wrap;
}
p { margin: 0.75rem 0; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 0.9rem; margin: 0 0 1.25rem; font-size: 0.95rem; }
dt { color: var(--quiet); }
dd { margin: 0; white-space: pre-wrap; }
label { display: block; margin: 0 0 1rem; font-weight: 600; font-size: 0.95rem; }
input, textarea {
  display: block;
  width: 100%;
  margin-top: 0.3rem;
  padding: 0.7rem 0.8rem;
  font: inherit;
  font-weight: 400;
  font-size: 1.0625rem;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--quiet);
  border-radius: 9px;
}
textarea { min-height: 7rem; resize: vertical; }
fieldset { margin: 0; padding: 0; border: 0; display: grid; gap: 0.6rem; }
legend { padding: 0; margin: 0 0 0.5rem; font-weight: 600; font-size: 0.95rem; }
button {
  width: 100%;
  min-height: 3.25rem;
  padding: 0.7rem 1rem;
  font: inherit;
  font-weight: 600;
  color: var(--on-accent);
  background: var(--accent);
  border: 0;
  border-radius: 10px;
  cursor: pointer;
}
button[hidden] { display: none; }
button.option { color: var(--accent); background: transparent; border: 2px solid var(--accent); text-align: left; }
button.option:hover { color: var(--on-accent); background: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { padding: 0.7rem 0.8rem; border: 1px solid var(--bad); border-radius: 9px; color: var(--bad); }
.note { margin: 1.25rem 0 0; font-size: 0.9rem; color: var(--quiet); }
`;

/** The headers of every page: it is private to the holder of its address; it runs, loads and embeds nothing. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
};
