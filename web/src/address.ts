import { useLocation, useRoute } from 'preact-iso/router'

type Changes = Record<string, string | number | undefined>

/** The URL holds the state of a page: how to read it and how to change it. */
export interface Address {
  path: string
  query: Record<string, string | undefined>
  /** The zero-based row that the list starts at. */
  start: number
  /** The URL of this page with changed parameters. Empty and undefined values are removed. */
  hrefWith(changes: Changes): string
  /** Navigates to that URL; `replace` adds no entry to the history. */
  change(changes: Changes, how?: { replace: boolean }): void
}

/** The category id in the URL; undefined if missing or malformed, and the page then shows all categories. */
export function rubriqueOf({ id_rubrique = '' }: Address['query']): string | undefined {
  return /^[1-9]\d{0,14}$/.test(id_rubrique) ? id_rubrique : undefined
}

/** The year or month in the URL; undefined if missing or malformed. */
export function periodeOf({ periode = '' }: Address['query']): string | undefined {
  return /^\d{4}(-(0[1-9]|1[0-2]))?$/.test(periode) ? periode : undefined
}

export function useAddress(): Address {
  // The route, not the location: while the next page loads, this one stays visible and keeps its own URL.
  const { path, query } = useRoute()
  const { route } = useLocation()
  const hrefWith = (changes: Changes) => {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, ...changes })) {
      if (value !== undefined && value !== '') next.set(name, String(value))
    }
    const search = next.toString()
    return path + (search && `?${search}`)
  }
  return {
    path,
    query,
    start: /^\d{1,15}$/.test(query.debut ?? '') ? Number(query.debut) : 0,
    hrefWith,
    change: (changes, how) => route(hrefWith(changes), how?.replace ?? false),
  }
}
