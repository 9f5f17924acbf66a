/** The pages that the server sends: no data, no inline script, no inline style. */
const words = {
  fr: {
    description: 'Les données publiques d’un portail de défis de sécurité.',
    noScript: 'Cette page a besoin de JavaScript. L’API répond sans lui : voyez ',
  },
  en: {
    description: 'The public data of a security-challenge portal.',
    noScript: 'This page needs JavaScript. The API answers without it: see ',
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
<noscript>This page needs JavaScript. The same reference is at <a href="/openapi.json">/openapi.json</a></noscript>
<main id="reference"></main>
</body>
</html>
`
}
