import type { DatabaseSyncInstance } from '@photostructure/sqlite'

const FAN = 32
const LEVELS = 4
const FIRST_CLE = -Number.MAX_SAFE_INTEGER
/** Larger than any author's id, so that points and id fit in one number, which sorts fast. */
const ID_ROOM = 2 ** 26

/** The points of authors in each ranking by category and period, added up in memory. */
export class Points {
  private readonly byRanking = new Map<number, Int32Array>()

  add(ranking: number, idAuteur: number, points: number): void {
    let sums = this.byRanking.get(ranking)
    if (!sums || sums.length <= idAuteur) {
      const larger = new Int32Array(2 ** Math.ceil(Math.log2(idAuteur + 1)))
      larger.set(sums ?? [])
      this.byRanking.set(ranking, larger)
      sums = larger
    }
    sums[idAuteur]! += points
  }

  rankings(): number[] {
    return [...this.byRanking.keys()].sort((a, b) => a - b)
  }

  /** The authors of a ranking with their points, in ranking order. */
  ranked(ranking: number): [cle: number, id: number][] {
    const keys: number[] = []
    this.byRanking.get(ranking)?.forEach((points, id) => {
      if (points > 0) keys.push(-points * ID_ROOM + id)
    })
    return Array.from(Float64Array.from(keys).sort(), (key) => {
      const cle = Math.floor(key / ID_ROOM)
      return [cle, key - cle * ID_ROOM]
    })
  }
}

/** Writes the tree of one counted order from its sorted keys. */
export function orderWriter(
  db: DatabaseSyncInstance,
): (arbre: string, keys: Iterable<[cle: number, id: number]>) => void {
  const insert = db.prepare('insert into noeuds (arbre, niveau, cle, date, id, nb) values (?, ?, ?, ?, ?, ?)')
  return (arbre, keys) => {
    let nodes: [cle: number, id: number, nb: number][] = []
    let passed = 0
    for (const [cle, id] of keys) {
      if (passed++ % FAN === 0) nodes.push([cle, id, 0])
      nodes.at(-1)![2]++
    }
    for (let niveau = 0; nodes.length > 0 && niveau < LEVELS; niveau++) {
      const above: typeof nodes = []
      nodes.forEach(([cle, id, nb], i) => {
        insert.run(arbre, niveau, i === 0 ? FIRST_CLE : cle, i === 0 ? FIRST_CLE : 0, i === 0 ? 0 : id, nb)
        if (i % FAN === 0) above.push([cle, id, 0])
        above.at(-1)![2] += nb
      })
      nodes = above
    }
  }
}
