import { etagOf } from '../src/http/serve.js'
import { type Asked, json, type Reply } from './front.js'
import type { DumpLine } from './harness.js'

const PAGE_ROWS = 50

/** A portal that speaks the older envelope, computed from the lines of a dump at each request. */
export function fakeDialect(portal: { lines: DumpLine[]; hasTags: boolean }): (asked: Asked) => Reply {
  return ({ path, headers }) => {
    const url = new URL(path, `http://${headers.host}`)
    const [, noun = '', id] = url.pathname.split('/')
    if (!headers.cookie?.includes('api_key=')) return failure(401)
    const body = id === undefined ? listOf(portal.lines, noun, url) : detailOf(portal.lines, noun, Number(id))
    if (body === undefined) return failure(404)
    const etag = etagOf(Buffer.from(JSON.stringify(body)))
    if (!portal.hasTags) return json(body)
    return headers['if-none-match'] === etag ? { status: 304, headers: { etag }, body: '' } : json(body, 200, { etag })
  }
}

export function failure(code: number): Reply {
  return json([{ error: { code, message: 'secret' } }], code)
}

function listOf(lines: DumpLine[], noun: string, url: URL): unknown {
  const rows = rowsOf(lines, noun)
  if (!rows || rows.length === 0) return undefined
  const name = `debut_${noun}`
  const last = Math.floor((rows.length - 1) / PAGE_ROWS) * PAGE_ROWS
  const debut = Math.min(Number(url.searchParams.get(name) ?? 0), last)
  const hrefOf = (row: number) => `${url.origin}${url.pathname}?${name}=${row}`
  return [
    keyed(rows.slice(debut, debut + PAGE_ROWS)),
    ...(debut > 0 ? [{ rel: 'previous', href: hrefOf(Math.max(0, debut - PAGE_ROWS)) }] : []),
    ...(debut + PAGE_ROWS < rows.length ? [{ rel: 'next', href: hrefOf(debut + PAGE_ROWS) }] : []),
  ]
}

function rowsOf(lines: DumpLine[], noun: string): object[] | undefined {
  const auteurs = () => typed(lines, 'auteur').map(({ id_auteur, nom }) => ({ id_auteur: String(id_auteur), nom }))
  const rows: Record<string, () => object[]> = {
    auteurs,
    classement: () => auteurs().map((each, index) => ({ place: index + 1, ...each, score: '0' })),
    challenges: () =>
      typed(lines, 'challenge').map((line) => ({
        id_challenge: String(line.id_challenge),
        id_rubrique: String(line.id_rubrique),
        titre: encoded(line.titre),
        lang: line.lang ?? '',
        ...{ date_publication: localOf(line.date_publication), maj: localOf(line.date_publication) },
      })),
    environnements_virtuels: () =>
      typed(lines, 'environnement_virtuel').map((line) => ({
        id_environnement_virtuel: String(line.id_environnement_virtuel),
        nom: line.nom,
      })),
  }
  return rows[noun]?.()
}

function detailOf(lines: DumpLine[], noun: string, id: number): unknown {
  if (noun === 'challenges') return challengeOf(lines, id)
  if (noun === 'auteurs') return auteurOf(lines, id)
  const found = typed(lines, 'environnement_virtuel').find((line) => line.id_environnement_virtuel === id)
  return (
    found && {
      ...{ id_environnement_virtuel: String(id), nom: found.nom, os: found.os ?? '' },
      ...{ description_fr: found.description_fr ?? '', description_en: found.description_en ?? '' },
      time_to_root: String(found.time_to_root ?? ''),
    }
  )
}

function challengeOf(lines: DumpLine[], id: number): unknown {
  const line = typed(lines, 'challenge').find(({ id_challenge }) => id_challenge === id)
  const rubrique = typed(lines, 'rubrique').find(({ id_rubrique }) => id_rubrique === line?.id_rubrique)
  const written = typed(lines, 'auteur').filter(({ id_auteur }) =>
    (line?.auteurs as number[] | undefined)?.includes(id_auteur as number),
  )
  return (
    line && [
      {
        ...{ titre: encoded(line.titre), rubrique: encoded(rubrique?.nom), soustitre: encoded(line.soustitre) },
        ...{ score: String(line.score), index_challenge: String(id), id_rubrique: String(line.id_rubrique) },
        ...{ id_trad: String(line.id_trad ?? 0), url_challenge: line.url_challenge ?? `challenges/${id}` },
        ...{ date_publication: localOf(line.date_publication), maj: localOf(line.date_publication) },
        difficulte: line.difficulte ?? '',
        auteurs: keyed(written.map(({ id_auteur, nom }) => ({ id_auteur: String(id_auteur), nom }))),
        validations: {},
      },
    ]
  )
}

function auteurOf(lines: DumpLine[], id: number): unknown {
  const line = typed(lines, 'auteur').find(({ id_auteur }) => id_auteur === id)
  const solved = typed(lines, 'validation').filter(({ id_auteur }) => id_auteur === id)
  return (
    line && {
      ...{ id_auteur: String(id), nom: line.nom, statut: line.statut ?? '', logo_url: '', score: String(line.score) },
      ...{ position: 1, rang: 'visitor', membre: 'false', challenges: [], solutions: [] },
      validations: solved.map(({ id_challenge, date }) => ({
        ...{ id_challenge: String(id_challenge), titre: '', id_rubrique: '1', date: localOf(date) },
      })),
    }
  )
}

function typed(lines: DumpLine[], type: string): DumpLine[] {
  return lines.filter((line) => line.type === type)
}

function keyed(rows: object[]): object {
  return Object.fromEntries(rows.map((row, index) => [String(index), row]))
}

function encoded(text: unknown): string {
  return String(text ?? '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/é/g, '&eacute;')
    .replace(/'/g, '&#039;')
}

/** As clocks in Paris showed it. */
function localOf(instant: unknown): string {
  if (typeof instant !== 'string') return ''
  return new Date(instant).toLocaleString('sv-SE', { timeZone: 'Europe/Paris' })
}
