type Area = 'localStorage' | 'sessionStorage'

/** What the browser keeps for the page under this name; undefined where it keeps nothing, or nothing that can be read. */
export function recall(area: Area, name: string): unknown {
  try {
    return JSON.parse(window[area].getItem(name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** Whether it is kept: a browser may refuse any storage, by its settings or because it is full, and the page does without. */
export function keep(area: Area, name: string, value: unknown): boolean {
  try {
    window[area].setItem(name, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}
