import type { Db } from '../../store/store.js'
import { dumpRecords } from './dump.js'
import { type Format, toText } from './formats.js'
import { RESSOURCES, type Table, tables } from './tables.js'

export interface ExportRequest {
  format: Format
  /** Without one: the whole portal, as records of the dump. */
  ressource?: string | undefined
  /** With the accounts, or with the validations that are frozen, in a dump alone. */
  withAccounts?: boolean
  withGelees?: boolean
}

/** Why something cannot be exported so, in words that follow the name of the format; undefined where it can. */
export function formatFault({ format, ressource }: ExportRequest): string | undefined {
  if (format !== 'csv' || ressource) return undefined
  return `csv is for one resource: ${RESSOURCES.slice(0, -1).join(', ')} or ${RESSOURCES.at(-1)}`
}

/** The text of an export, in pieces. JSON is ASCII, CSV is UTF-8. Inside one snapshot it shows one version of the data. */
export function exportText(db: Db, request: ExportRequest): AsyncGenerator<string> {
  const { format, ressource, withAccounts = false, withGelees = false } = request
  if (!ressource) return toText(dumpRecords(db, { withAccounts, withGelees }), format)
  const { columns, rows } = tables.get(ressource) as Table
  return toText(rows(db), format, columns)
}
