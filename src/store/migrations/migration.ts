import type { Engine } from '../query.js'

/** One step of the schema, forward only. It runs whole, in one transaction, or not at all. */
export interface Migration extends Readonly<Record<Engine, readonly string[]>> {
  version: number
  nom: string
}
