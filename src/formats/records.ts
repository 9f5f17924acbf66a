/** The lines of a dump that foreign formats become; docs/DUMP.md says what each field takes. */
export type DumpRecord =
  | { type: 'rubrique'; id_rubrique: number; nom: string }
  | { type: 'auteur'; id_auteur: number; nom: string; score: number }
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

/** A file of another format, read whole and found without fault. */
export interface Converted {
  records: Iterable<DumpRecord>
  nbAuteurs: number
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
