/** One step of the schema, forward only. It runs whole, in one transaction, or not at all. */
export interface Migration {
  version: number
  nom: string
  sqlite: readonly SqliteStep[]
  postgres: readonly string[]
}

/** A statement that both engines run, in SQLite's words, or what one of them runs, or each of them. */
type Step = string | { sqlite?: SqliteStep; postgres?: string }

/** SQL to run; or a select of one column, `sql`, whose rows to run, for objects whose names vary. */
export type SqliteStep = string | { each: string }

export function migration(version: number, nom: string, steps: readonly Step[]): Migration {
  const sqlite = steps.flatMap((step) => (typeof step === 'string' ? step : (step.sqlite ?? [])))
  const postgres = steps.flatMap((step) => (typeof step === 'string' ? toPostgres(step) : (step.postgres ?? [])))
  return { version, nom, sqlite, postgres }
}

/** Text compares by its bytes, whatever the locale of the database, as it does in SQLite. */
function toPostgres(sql: string): string {
  return sql
    .replace(/ strict(, without rowid)?$/, '')
    .replace(' autoincrement', '')
    .replace(/\binteger\b/g, 'bigint')
    .replace(/\btext\b/g, 'text collate "C"')
}
