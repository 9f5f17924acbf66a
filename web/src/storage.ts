type Area = 'localStorage' | 'sessionStorage'

/** Reads a stored value; undefined if it is missing, malformed or if storage is unavailable. */
export function recall(area: Area, name: string): unknown {
  try {
    return JSON.parse(window[area].getItem(name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** Stores a value. Returns false if the browser refuses, by its settings or because the storage is full. */
export function keep(area: Area, name: string, value: unknown): boolean {
  try {
    window[area].setItem(name, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}
