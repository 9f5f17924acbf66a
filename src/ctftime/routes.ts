import type { ServeWhole } from '../contract.js'
import { getCtftime } from './contract.js'
import { feed } from './feed.js'

export function ctftimeRoutes(serve: ServeWhole): void {
  serve(getCtftime, () => ({ contentType: 'application/json; charset=utf-8', pieces: feed }))
}
