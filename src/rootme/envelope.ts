import type { Page } from '../contract.js'
import { Problem } from '../errors.js'
import type { ProblemShape } from '../http/problems.js'
import { JSON_TYPE } from '../http/serve.js'

/** Rows a page of a list, and of the validations inside a challenge. */
export const PAGE_ROWS = 50
export const VALIDATIONS_ROWS = 100

interface Link {
  rel: 'previous' | 'next'
  href: string
}

const CREDENTIAL_MISSING = 'Send the cookie spip_session, from the login, or the cookie api_key with an API key.'

/** Errors of the dialect: the status again, and a text, which names every parameter that is wrong. */
export const errorShape: ProblemShape = {
  contentType: JSON_TYPE,
  bodyOf({ code, status, detail, errors }) {
    const faults = errors.map(({ parameter, message }) => `${parameter} ${message}`).join('; ')
    const message = code === 'credential_missing' ? CREDENTIAL_MISSING : faults === '' ? detail : `${faults}.`
    return [{ error: { code: status, message } }]
  },
}

/** The page that begins at a row, or the last one where the row lies past the end. */
export async function clamp<Row>(find: (debut: number) => Promise<Page<Row>>, debut: number): Promise<Page<Row>> {
  const page = await find(debut)
  if (page.rows.length > 0 || debut === 0) return page
  const { limite, total = 0, end = total } = page
  return find(Math.max(0, Math.floor((end - 1) / limite) * limite))
}

/** Items keyed "0", "1", … */
export function keyed<Item>(items: readonly Item[]): Record<string, Item> {
  return Object.fromEntries(items.map((item, index) => [String(index), item]))
}

/** Refuses an empty list: the dialect answers 404 for it. */
export function refuseNone(rows: readonly unknown[]): void {
  if (rows.length === 0) throw new Problem('resource_not_found', { detail: 'The portal has nothing of the kind.' })
}

/** The links of a page. `address` is absolute and has no query, `kept` the filters that the client sent. */
export function linksOf(
  address: string,
  debutName: string,
  kept: readonly [name: string, value: string][],
  { debut, limite, more }: Omit<Page<unknown>, 'rows'>,
): Link[] {
  const filters = kept.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}&`).join('')
  const link = (rel: Link['rel'], row: number): Link => ({ rel, href: `${address}?${filters}${debutName}=${row}` })
  return [
    ...(debut > 0 ? [link('previous', Math.max(0, debut - limite))] : []),
    ...(more ? [link('next', debut + limite)] : []),
  ]
}
