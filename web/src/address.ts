import { useLocation, useRoute } from 'preact-iso/router'

type Changes = Record<string, string | number | undefined>

/** The address is the state of a page: what it says, and how to change it. */
export interface Address {
  path: string
  query: Record<string, string | undefined>
  /** The zero-based row that the list starts at. */
  start: number
  /** This page with other parameters; an empty or undefined one is left out. */
  hrefWith(changes: Changes): string
  /** Goes there; `replace` leaves no step to go back to. */
  change(changes: Changes, how?: { replace: boolean }): void
}

/** A category as an address names one; undefined for anything else, as the page then shows all of them. */
export function rubriqueOf({ id_rubrique = '' }: Address['query']): string | undefined {
  return /^[1-9]\d{0,14}$/.test(id_rubrique) ? id_rubrique : undefined
}

/** A year or month as an address names one; undefined for anything else. */
export function periodeOf({ periode = '' }: Address['query']): string | undefined {
  return /^\d{4}(-(0[1-9]|1[0-2]))?$/.test(periode) ? periode : undefined
}

export function useAddress(): Address {
  // While another page is on its way this one stays, and keeps the address that it was shown for.
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
