import type { Depends } from '../contract.js'
import type { JournalEntry } from '../store/store.js'

/** Names and changes of orders that are remembered; past them, whatever is older counts as touched. */
const MAX_REMEMBERED = 50_000
const MAX_CHANGES_OF_ORDER = 64

/** A change of a counted order: between which keys, and whether its entries are as many as before. */
interface OrderChange {
  version: number
  de: number
  a: number
  isSameCount: boolean
}

interface Order {
  /** Oldest first. */
  changes: OrderChange[]
  /** Changes up to this version are forgotten. */
  floor: number
}

/** Tells whether what an answer was made from has changed since, from what the journal said. */
export class Freshness {
  /** Whatever was made before this version counts as touched. */
  private floor = 0
  private readonly touched = new Map<string, number>()
  private readonly orders = new Map<string, Order>()
  /** Of all orders. */
  private changes = 0

  /** Takes the lines that led to a version; undefined where they are not known. */
  note(version: number, entries: readonly JournalEntry[] | undefined): void {
    if (!entries || entries.some(({ type }) => type === 'portail')) {
      this.forget(version)
      return
    }
    for (const entry of entries) {
      for (const name of namesOf(entry)) this.touched.set(name, version)
      for (const [arbre, [de, a, isSameCount]] of Object.entries(entry.rangs ?? {})) {
        this.noteOrder(arbre, { version, de, a, isSameCount })
      }
    }
    if (this.touched.size + this.changes > MAX_REMEMBERED) this.forget(version)
  }

  /** Counts all that was made before a version as touched. */
  forget(version: number): void {
    this.floor = version
    this.touched.clear()
    this.orders.clear()
    this.changes = 0
  }

  /** Whether an answer that was made from a version is what one made now would be. */
  isFresh(depends: Depends | undefined, version: number): boolean {
    if (version < this.floor || !depends) return false
    const isTouched = (name: string) => (this.touched.get(name) ?? 0) > version
    return !(
      depends.names.some(isTouched) ||
      depends.noms?.some((id) => isTouched(`nom/${id}`)) ||
      depends.ranges?.some(([arbre, de, a]) => this.hasMoved(arbre, de, a, version))
    )
  }

  private noteOrder(arbre: string, change: OrderChange): void {
    const order = this.orders.get(arbre) ?? { changes: [], floor: 0 }
    this.orders.set(arbre, order)
    order.changes.push(change)
    if (order.changes.length > MAX_CHANGES_OF_ORDER) order.floor = order.changes.shift()?.version ?? 0
    else this.changes++
  }

  private hasMoved(arbre: string, de: number, a: number, version: number): boolean {
    const order = this.orders.get(arbre)
    if (!order) return false
    if (version < order.floor) return true
    return order.changes.some(
      (change) => change.version > version && (!change.isSameCount || (change.de <= a && change.a >= de)),
    )
  }
}

/** What a line of the journal touches, by the names that answers depend on. */
function namesOf({ type, supprime, id_auteur, id_challenge }: JournalEntry): string[] {
  if (type === 'validation') return ['validations', `challenge/${id_challenge}`, `auteur/${id_auteur}`]
  if (type === 'auteur') {
    const own = ['auteurs', `auteur/${id_auteur}`, `nom/${id_auteur}`]
    // What they wrote and solved goes with them.
    return supprime === 1 ? [...own, 'challenges'] : own
  }
  if (type === 'challenge') return ['challenges', 'rubriques']
  if (type === 'rubrique') return ['challenges', 'rubriques']
  return []
}
