import type { Engine } from '../query.js'

/** One step of the schema, forward only. It runs whole, in one transaction, or not at all. */
export interface Migration extends Readonly<Record<Engine, readonly string[]>> {
  version: number
  nom: string
}

/** A statement that both engines run, in SQLite's words, or what one of them runs, or each of them. */
type Step = string | Partial<Record<Engine, string>>

export function migration(version: number, nom: string, steps: readonly Step[]): Migration {
  const statements = (engine: Engine, translate: (sql: string) => string) =>
    steps.flatMap((step) => (typeof step === 'string' ? translate(step) : (step[engine] ?? [])))
  return { version, nom, sqlite: statements('sqlite', (sql) => sql), postgres: statements('postgres', toPostgres) }
}

/** Text compares by its bytes, whatever the locale of the database, as it does in SQLite. */
function toPostgres(sql: string): string {
  return sql
    .replace(/ strict(, without rowid)?$/, '')
    .replace(' autoincrement', '')
    .replace(/\binteger\b/g, 'bigint')
    .replace(/\btext\b/g, 'text collate "C"')
}
