import type { ServeWhole } from '../../contract.js'
import { invalidParameter } from '../../errors.js'
import { CONTENT_TYPES, getExport } from './contract.js'
import { exportText, formatFault } from './export.js'

/** The dump and the tables over HTTP: the bytes that `palmares export` writes. */
export function exportRoutes(serve: ServeWhole): void {
  serve(getExport, ({ format = 'ndjson', ressource }) => {
    const fault = formatFault({ format, ressource })
    if (fault) throw invalidParameter('format', fault)
    return {
      contentType: CONTENT_TYPES[format],
      fileName: `${ressource ?? 'portail'}.${format}`,
      pieces: (db) => exportText(db, { format, ressource }),
    }
  })
}
