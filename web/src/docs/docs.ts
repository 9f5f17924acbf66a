import './docs.css'
import { codeSamples } from './samples.js'
import type { SwaggerUi } from './swagger.js'

declare const SwaggerUIBundle: SwaggerUi

// Swagger UI is dark where the root has this class, whatever the reader's browser asks for.
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
