import './docs.css'
import { codeSamples } from './samples.js'
import type { SwaggerUi } from './swagger.js'

declare const SwaggerUIBundle: SwaggerUi

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
