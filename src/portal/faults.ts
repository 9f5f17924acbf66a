import type { Db } from '../store/store.js'

/** Faults of one text: how many there are, and the first places. */
interface Group {
  count: number
  places: string[]
}

/** Places of a group that are shown. */
const SHOWN_PLACES = 5

/** The faults of a dump or of another file. Equal ones are one group; the first groups are shown, all faults are counted. */
export class Faults {
  static readonly SHOWN = 20
  count = 0
  private readonly groups = new Map<string, Group>()

  /** A place is a line, or where in the file the fault is. */
  add(place: number | string | undefined, message: string): void {
    this.count++
    const group = this.groups.get(message) ?? { count: 0, places: [] }
    if (group.count === 0 && this.groups.size === Faults.SHOWN) return
    this.groups.set(message, group)
    group.count++
    const shown = typeof place === 'number' ? String(place) : place
    const isNew = shown !== undefined && !group.places.includes(shown)
    if (isNew && group.places.length < SHOWN_PLACES) group.places.push(shown)
  }

  /** The first groups, a line each. */
  get shown(): string[] {
    return [...this.groups].map(toLine)
  }

  /** Faults that no group which is shown counts. */
  get rest(): number {
    return [...this.groups.values()].reduce((rest, { count }) => rest - count, this.count)
  }

  /**
   * Adds a fault for each row of a select, whose first column is the line, in the order of its first two columns.
   * However many there are, only as many are fetched as groups may be shown still.
   */
  async addFound<R extends { ligne: number | null }>(
    db: Db,
    select: string,
    toMessage: (row: R) => string,
  ): Promise<void> {
    const [found] = await db.select<{ nb: number }>(`select count(*) as nb from (${select}) as faults`)
    const nb = Number(found?.nb)
    const room = Math.min(nb, Faults.SHOWN - this.groups.size)
    const rows = room > 0 ? await db.select<R>(`${select} order by 1, 2 limit ${room}`) : []
    for (const row of rows) this.add(row.ligne ?? undefined, toMessage(row))
    this.count += nb - rows.length
  }
}

function toLine([message, { count, places }]: [message: string, Group]): string {
  const [first] = places
  if (first === undefined) return count === 1 ? message : `${message} (${count} times)`
  const isLine = /^\d+$/.test(first)
  if (places.length === 1)
    return `${isLine ? 'line ' : ''}${first}: ${message}${count === 1 ? '' : ` (${count} times)`}`
  const more = count - places.length
  return `${isLine ? 'lines ' : ''}${places.join(', ')}${more > 0 ? ` and ${more} more` : ''}: ${message}`
}
