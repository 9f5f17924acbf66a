import './docs.css'
import { codeSamples } from './samples.js'
import type { SwaggerUi } from './swagger.js'

declare const SwaggerUIBundle: SwaggerUi

// Swagger UI does not follow the browser's colour scheme: this class on the root element makes it dark.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  withCredentials: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  plugins: [codeSamples],
})
