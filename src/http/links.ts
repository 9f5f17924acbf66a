import type { Endpoint, Page } from '../contract.js'

/** Clients and proxies refuse long headers. A list of 500 ids makes each link almost as long as an address may be. */
const MAX_LINK_CHARACTERS = 8_192

/**
 * The Link header of a page (RFC 8288): first, prev and next where that page exists, last where the total is known. Links that
 * are too long together lack the least useful ones. `address` is the absolute address without a query, `kept` what the endpoint
 * knows of the query that the client sent.
 */
export function linkHeader(
  address: string,
  endpoint: Pick<Endpoint, 'query'>,
  kept: readonly [string, string][],
  page: Omit<Page<unknown>, 'rows'>,
): string {
  const debutName = Object.keys(endpoint.query).find((name) => name.startsWith('debut_')) as string
  // Links name the page by its row alone.
  const filters = kept
    .filter(([name]) => name !== debutName && name !== 'autour_de')
    // A comma needs no escape in a query, and lists of ids have many.
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value).replaceAll('%2C', ',')}&`)
    .join('')
  const link = (rel: string, debut: number) => ({
    rel,
    text: `<${address}?${filters}${debutName}=${debut}>; rel="${rel}"`,
  })
  const { debut, limite, total, more, end = total } = page
  const lastDebut = (rows: number) => Math.max(0, Math.floor((rows - 1) / limite) * limite)
  const links = [link('first', 0)]
  if (debut > 0 && end !== 0) {
    const isPastEnd = end !== undefined && debut >= end
    links.push(link('prev', isPastEnd ? lastDebut(end) : Math.max(0, debut - limite)))
  }
  if (more) links.push(link('next', debut + limite))
  if (total !== undefined) links.push(link('last', lastDebut(total)))
  return fitting(links).join(', ')
}

/** At least one link stays. */
function fitting(links: { rel: string; text: string }[]): string[] {
  let kept = links
  for (const rel of ['last', 'first', 'prev']) {
    const size = kept.reduce((sum, { text }) => sum + text.length, 0)
    if (size <= MAX_LINK_CHARACTERS || kept.length === 1) break
    kept = kept.filter((each) => each.rel !== rel)
  }
  return kept.map(({ text }) => text)
}
