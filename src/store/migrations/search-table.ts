import { searchIndexOf } from '../search-index.js'

/** SQLite's search index of a table, and the triggers that keep it, so that no writer can forget it. */
export function searchTable(table: string, id: string, columns: readonly string[]): { sqlite: string }[] {
  const search = searchIndexOf(table)
  const list = columns.join(', ')
  const values = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  const remove = `insert into ${search} (${search}, rowid, ${list}) values ('delete', old.${id}, ${values('old')});`
  const add = `insert into ${search} (rowid, ${list}) values (new.${id}, ${values('new')});`
  const differs = columns.map((column) => `old.${column} <> new.${column}`).join(' or ')
  const steps = [
    `create virtual table ${search} using fts5 (${list}, content = '${table}', content_rowid = '${id}',
      tokenize = 'trigram case_sensitive 1')`,
    `create trigger ${search}_insert after insert on ${table} begin ${add} end`,
    `create trigger ${search}_delete after delete on ${table} begin ${remove} end`,
    `create trigger ${search}_update after update of ${list} on ${table} when ${differs} begin ${remove} ${add} end`,
  ]
  return steps.map((sqlite) => ({ sqlite }))
}
