/** The HTML documents that the server sends. They contain no data, no inline script and no inline style. */
const words = {
  fr: {
    description: 'Données publiques d’un portail de challenges de sécurité.',
    noScript: 'Cette page nécessite JavaScript. L’API fonctionne sans : consultez ',
  },
  en: {
    description: 'Public data of a security challenge portal.',
    noScript: 'This page requires JavaScript. The API does not: see ',
  },
}

export function pageShell(lang, { script, style, first, icon }) {
  const { description, noScript } = words[lang]
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<title>Palmarès</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}" type="image/svg+xml">
<link rel="stylesheet" href="${style}">
${first.map((address) => `<link rel="modulepreload" href="${address}">`).join('\n')}
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>${noScript}<a href="/openapi.json">/openapi.json</a></noscript>
<div id="page"></div>
</body>
</html>
`
}

export function docsShell({ script, style, icon, swaggerScript, swaggerStyle }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>API reference · Palmarès</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${icon}" type="image/svg+xml">
<link rel="stylesheet" href="${swaggerStyle}">
<link rel="stylesheet" href="${style}">
<script src="${swaggerScript}" defer></script>
<script type="module" src="${script}"></script>
</head>
<body>
<header class="back"><a href="/">Palmarès</a></header>
<noscript>This page requires JavaScript. You can read the same reference at <a href="/openapi.json">/openapi.json</a></noscript>
<main id="reference"></main>
</body>
</html>
`
}
