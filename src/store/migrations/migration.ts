/** One step of the schema, forward only. It runs whole, in one transaction, or not at all. */
export interface Migration {
  version: number
  nom: string
  sqlite: readonly string[]
}
