import type { Kind } from '../model/kind.js'
import { KINDS } from '../model/kinds.js'
import { FieldError } from '../model/readers.js'
import type { Db } from '../store/store.js'
import type { Faults } from './faults.js'
import type { Line } from './lines.js'
import { createLot, lotOf, lotsOf, sameKey, tuple } from './lot.js'
import { type ParsedLine, parseLine } from './parse.js'

export interface StageOptions {
  withAccounts: boolean
  /** Called now and then with the lines read so far. */
  onProgress?: ((lines: number) => void) | undefined
  /** Called before each step that follows the last line, with the steps done and all of them. */
  onStep?: (done: number, of: number) => void
}

export interface Staged {
  lines: number
  /** Names of fields that no kind has, with how often they came; they were left out. */
  unknownFields: Map<string, number>
  /** Lines that hold a record, removals not counted. */
  records: number
}

/** So many unknown fields are counted by name. */
const MAX_UNKNOWN_FIELDS = 20

/** Rows of one table are inserted so many at a time. */
const BATCH_ROWS = 2_000
/** Or sooner, where lines are long: what waits is in memory. */
const BATCH_CHARACTERS = 8_000_000

/** Reads every line of a dump into staging tables; what is wrong with a line goes to `faults`. */
export class Stager {
  private readonly batches = new Map<string, { columns: string[]; rows: unknown[][] }>()
  private pendingCharacters = 0
  private readonly staged: Staged = { lines: 0, records: 0, unknownFields: new Map() }

  constructor(
    private readonly db: Db,
    private readonly faults: Faults,
    private readonly options: StageOptions,
  ) {}

  async run(lines: AsyncIterable<Line[]>): Promise<Staged> {
    for (const lot of KINDS.flatMap(lotsOf)) {
      await createLot(this.db, lot)
      this.batches.set(lot.table, { columns: Object.keys(lot.columns), rows: [] })
    }
    for await (const batch of lines) {
      for (const line of batch) this.read(line)
      await this.flush(this.pendingCharacters > BATCH_CHARACTERS ? 1 : BATCH_ROWS)
      this.options.onProgress?.(this.staged.lines)
    }
    await this.flush(1)
    for (const table of this.batches.keys()) await this.db.analyze(lotOf(table))
    const steps = KINDS.length + 1
    for (const [done, kind] of KINDS.entries()) {
      this.options.onStep?.(done, steps)
      await this.settleDuplicates(kind)
    }
    this.options.onStep?.(steps - 1, steps)
    await this.checkKeys()
    return this.staged
  }

  private read(line: Line): void {
    this.staged.lines = line.number
    this.pendingCharacters += line.text?.length ?? 0
    try {
      const parsed = parseLine(line)
      if (parsed) this.take(line.number, parsed)
    } catch (error) {
      if (!(error instanceof FieldError)) throw error
      this.faults.add(line.number, error.message)
    }
  }

  private take(number: number, { kind, isRemoval, row, children, unknownFields }: ParsedLine): void {
    if (kind.isAccount && !this.options.withAccounts) {
      throw new FieldError(`a ${kind.type} is imported only with --with-accounts`)
    }
    if (!isRemoval) this.staged.records++
    this.push(kind.table, [number, isRemoval ? 1 : 0, ...row])
    for (const child of children()) this.push(kind.list!.table, [number, ...child])
    for (const name of unknownFields) this.noteUnknown(`${kind.type}.${name}`)
  }

  private push(table: string, row: unknown[]): void {
    this.batches.get(table)!.rows.push(row)
  }

  private noteUnknown(name: string): void {
    const { unknownFields } = this.staged
    if (unknownFields.size < MAX_UNKNOWN_FIELDS || unknownFields.has(name))
      unknownFields.set(name, (unknownFields.get(name) ?? 0) + 1)
  }

  private async flush(min: number): Promise<void> {
    if (min === 1) this.pendingCharacters = 0
    for (const [table, batch] of this.batches) {
      if (batch.rows.length < min) continue
      await this.db.load(lotOf(table), batch.columns, batch.rows)
      batch.rows = []
    }
  }

  /** Equal lines of one record count once, differing ones are a fault; the first is kept, with its list. */
  private async settleDuplicates(kind: Kind): Promise<void> {
    const lot = lotOf(kind.table)
    const compared = ['supprime', ...kind.columns, ...Object.keys(kind.staged)]
    const key = kind.key.join(', ')
    const isSame = sameKey(kind, 'a', 'b')
    await this.db.exec(`create index ${lot}_cle on ${lot} (${key}, ligne)`)
    const first = `(select min(a.ligne) from ${lot} a where ${isSame})`
    await this.faults.addFound<{ ligne: number; avant: number }>(
      this.db,
      `select b.ligne as ligne, a.ligne as avant from ${lot} b join ${lot} a on ${isSame} and a.ligne = ${first}
       where a.ligne < b.ligne and ${tuple(compared, 'a')} is distinct from ${tuple(compared, 'b')}`,
      ({ avant }) => `differs from line ${avant}, which has the same ${kind.key.join(' and ')}`,
    )
    const dropped = await this.db.exec(`delete from ${lot} as b where b.ligne > ${first}`)
    if (dropped === 0 || !kind.list) return
    await this.db.exec(`create index ${lot}_ligne on ${lot} (ligne)`)
    await this.db.exec(
      `delete from ${lotOf(kind.list.table)} as c where not exists (select 1 from ${lot} l where l.ligne = c.ligne)`,
    )
  }

  /** A key belongs to one account and has one name; which of two would win is not for us to say. */
  private async checkKeys(): Promise<void> {
    const lot = lotOf('cles_api')
    await this.db.exec(`create index ${lot}_cle on ${lot} (empreinte)`)
    await this.faults.addFound<{ ligne: number; avant: number }>(
      this.db,
      `select max(ligne) as ligne, min(ligne) as avant from ${lot} group by empreinte having count(*) > 1`,
      ({ ligne, avant }) => `cles has an empreinte twice${avant === ligne ? '' : `, first in line ${avant}`}`,
    )
  }
}
