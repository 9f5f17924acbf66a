import type { Pass } from './context.js'
import { BadAnswer, MirrorError } from './errors.js'
import { bodyOf, codeOf, jsonIn, tagOf } from './shape.js'
import type { Listed, ListPage, Noun, Place } from './source.js'
import { lookUp, type Resource } from './state.js'
import { takeRubriques } from './take.js'
import type { Answer } from './transport.js'

/** What a map of a process holds with ease; it ends at 2^24. */
export const MAX_LIST_ROWS = 5_000_000

/**
 * Every record that a list names, page by page. A page that was seen in this pass is not asked for again, unless the list
 * turned out to be wrong.
 */
export async function walkList(pass: Pass, noun: Noun): Promise<Listed[]> {
  const seen: string[] = []
  try {
    return await walkPages(pass, noun, seen)
  } catch (error) {
    // Any page may be to blame, as each leads to the next.
    if (error instanceof BadAnswer) for (const path of seen) pass.batch.gone(path)
    throw error
  }
}

async function walkPages(pass: Pass, noun: Noun, seen: string[]): Promise<Listed[]> {
  const { source, batch, maxListRows = MAX_LIST_ROWS, onProgress } = pass
  const rows = new Map<number, Listed>()
  for (let debut: number | undefined = 0; debut !== undefined; ) {
    const path = source.pageOf(noun, debut)
    seen.push(path)
    const page: ListPage = await readPage(pass, noun, debut, path)
    const before = rows.size
    for (const row of page.rows) rows.set(row.id, row)
    if (page.next !== undefined && rows.size === before) {
      throw new BadAnswer(`${path}: the page names nobody new and leads on, so the list may never end`)
    }
    if (rows.size > maxListRows) throw new BadAnswer(`${path}: the list has more than ${maxListRows} rows`)
    onProgress(`listing ${noun}`, rows.size, page.total)
    await batch.flushIfDue()
    debut = page.next
  }
  return [...rows.values()]
}

/** Whether the first page of a list has a row. */
export async function hasRows(pass: Pass, noun: Noun): Promise<boolean> {
  return (await readPage(pass, noun, 0, pass.source.pageOf(noun, 0))).rows.length > 0
}

/**
 * Refuses a portal without a record: in the dialect a wrong address answers as an empty portal does, and a portal that was
 * there yesterday is not likely to be empty today. The lists are asked for again by the next pass.
 */
export function refuseEmpty({ source, transport, batch, emptyLists }: Pass): never {
  for (const noun of source.nouns) batch.gone(source.pageOf(noun, 0))
  if (source.rubriques) batch.gone(source.rubriques.path)
  throw new MirrorError(
    `${transport.base} has nothing to copy: ${emptyLists.join(', ')}, without a single row; check that URL is the whole address of the portal's API (the dialect of Palmarès is under /rootme), and that the portal holds data`,
  )
}

async function readPage(pass: Pass, noun: Noun, debut: number, path: string): Promise<ListPage> {
  const { source, passe, emptyLists } = pass
  const at: Place = { base: pass.transport.base, path }
  const held = await cachedPage(pass, path)
  if (held?.resource.passe === passe) return held.page
  const answer = await pass.transport.get(path, held?.resource.etag)
  if (isUnchanged(answer, held?.resource)) {
    const page = { ...held!.page, ...source.nextOf(noun, debut, at, answer.headers) }
    note(pass, path, held!.resource.etag, page)
    if (debut === 0 && page.rows.length === 0) emptyLists.push(`${path} answered 304`)
    return page
  }
  const isNotFound = debut === 0 && answer.status === 404
  const isMissing = isNotFound && codeOf(jsonIn(answer)) === 'path_not_found'
  if (isMissing) pass.onWarning(`${path}: the portal has no such list; it may be an older version`)
  const page =
    isMissing || (isNotFound && source.isNothing(jsonIn(answer)))
      ? { rows: [], next: undefined, total: 0 }
      : source.readPage(noun, debut, at, bodyOf(answer), answer.headers)
  if (debut === 0 && page.rows.length === 0) emptyLists.push(`${path} answered ${answer.status}`)
  note(pass, path, tagOf(answer), page)
  return page
}

/** The rows of a page as this kind of copy remembers them. */
async function cachedPage({ store }: Pass, path: string): Promise<{ resource: Resource; page: ListPage } | undefined> {
  const resource = (await lookUp(store, [path])).get(path)
  if (!resource?.contenu) return undefined
  const { rows, next, total } = JSON.parse(resource.contenu) as {
    rows: [number, string][]
    next?: number
    total?: number
  }
  return { resource, page: { rows: rows.map(([id, note]) => ({ id, note })), next, total } }
}

function note({ batch, passe }: Pass, chemin: string, etag: string | null, { rows, next, total }: ListPage): void {
  const contenu = JSON.stringify({ rows: rows.map(({ id, note }) => [id, note]), next, total })
  batch.answered({ chemin, etag, passe, lecture: '', contenu })
}

/** A 304 to a tag that was sent. */
export function isUnchanged({ status }: Answer, held: Resource | undefined): boolean {
  return status === 304 && held?.etag !== null && held?.etag !== undefined
}

/** The categories, if the portal lists them. One request returns them all. */
export async function readRubriques(pass: Pass): Promise<ReadonlySet<number> | undefined> {
  const { source, store, transport, batch, passe, known } = pass
  if (!source.rubriques) return undefined
  const { path } = source.rubriques
  const held = (await lookUp(store, [path])).get(path)
  const ids = held?.contenu ? (JSON.parse(held.contenu) as number[]) : undefined
  const isWhole = ids?.every((id) => known.rubriques.has(id)) === true
  if (isWhole && held?.passe === passe) return new Set(ids)
  const answer = await transport.get(path, isWhole ? held?.etag : undefined)
  const isSame = isWhole && isUnchanged(answer, held)
  const rubriques = isSame ? [] : source.rubriques.read({ base: transport.base, path }, bodyOf(answer))
  takeRubriques(pass, rubriques, path)
  const named = isSame ? ids : rubriques.map(({ id_rubrique }) => id_rubrique)
  const etag = isSame ? held!.etag : tagOf(answer)
  batch.answered({ chemin: path, etag, passe, lecture: '', contenu: JSON.stringify(named) })
  return new Set(named)
}
