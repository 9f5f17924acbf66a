import { formatInstant } from '../instant.js'
import type { PublishedPlaces } from '../portal/places.js'

/** The lines of a dump that foreign formats become; docs/DUMP.md says what each field takes. */
export type DumpRecord =
  | { type: 'rubrique'; id_rubrique: number; nom: string }
  | AuteurRecord
  | {
      type: 'challenge'
      id_challenge: number
      id_rubrique: number
      titre: string
      score: number
      descriptif?: string
      url_challenge?: string
    }
  | { type: 'validation'; id_auteur: number; id_challenge: number; date: string | null }

export interface AuteurRecord {
  type: 'auteur'
  id_auteur: number
  nom: string
  score: number
  groupe?: string
  date_score?: string
}

/** An author of a file. A score below 0 becomes 0. `reached` is when the base of the score was reached, in seconds. */
export function toAuteur(
  id_auteur: number,
  nom: string,
  score: number,
  { groupe, reached }: { groupe: string; reached: number | null },
): AuteurRecord {
  return {
    type: 'auteur',
    id_auteur,
    nom,
    score: Math.max(0, score),
    ...(groupe === '' ? {} : { groupe }),
    ...(reached === null ? {} : { date_score: formatInstant(reached) }),
  }
}

/** A file of another format, read whole and found without fault. */
export interface Converted {
  records: Iterable<DumpRecord>
  nbAuteurs: number
  /** Absent for a format that has no places. */
  places?: PublishedPlaces
  /** What the file holds and the portal does not take, a phrase each: counts, never contents. */
  leftOut: string[]
  /** What was taken otherwise than the file has it, a sentence each. */
  warnings: string[]
}

/** Lines per chunk of bytes. */
const CHUNK_LINES = 1_000

/** Records as the bytes of a dump, which an import reads as it reads any other. */
export async function* toDump(records: Iterable<DumpRecord>): AsyncGenerator<Buffer> {
  let lines: string[] = []
  for (const record of records) {
    if (lines.push(`${JSON.stringify(record)}\n`) < CHUNK_LINES) continue
    yield Buffer.from(lines.join(''))
    lines = []
  }
  yield Buffer.from(lines.join(''))
}
