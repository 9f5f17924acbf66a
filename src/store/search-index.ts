/** How the search index of a table is named: a table of its own in SQLite, an index in PostgreSQL. */
export const SEARCH_SUFFIX = '_recherche'

export function searchIndexOf(table: string): string {
  return `${table}${SEARCH_SUFFIX}`
}
