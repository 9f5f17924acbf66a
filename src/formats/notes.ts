/** How many ids are shown of one kind. */
const SHOWN_IDS = 20

/** Notes about the records of a file, counted by kind. */
export class Notes {
  private readonly kinds = new Map<string, { count: number; ids: (number | string)[] }>()

  /** Counts a note. `what` is a phrase that follows a number. */
  add(what: string, id?: number | string): void {
    const kind = this.kinds.get(what) ?? { count: 0, ids: [] }
    this.kinds.set(what, kind)
    kind.count++
    if (id !== undefined && kind.ids.length < SHOWN_IDS) kind.ids.push(id)
  }

  lines(): string[] {
    return [...this.kinds].map(([what, { count, ids }]) => {
      const rest = count - ids.length
      const list = ids.length === 0 ? '' : `: ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
      return `${count} ${what}${list}`
    })
  }
}
