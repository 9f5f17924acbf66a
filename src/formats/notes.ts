/** So many ids are told of one kind. */
const TOLD_IDS = 20

/** What is to be told of a file, by kind: how often each came, and of which records. */
export class Notes {
  private readonly kinds = new Map<string, { count: number; ids: (number | string)[] }>()

  /** One more of a kind; `what` reads on after a number. */
  add(what: string, id?: number | string): void {
    const kind = this.kinds.get(what) ?? { count: 0, ids: [] }
    this.kinds.set(what, kind)
    kind.count++
    if (id !== undefined && kind.ids.length < TOLD_IDS) kind.ids.push(id)
  }

  told(): string[] {
    return [...this.kinds].map(([what, { count, ids }]) => {
      const rest = count - ids.length
      const list = ids.length === 0 ? '' : `: ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
      return `${count} ${what}${list}`
    })
  }
}
