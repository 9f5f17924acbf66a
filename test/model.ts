import { histogramme, progressionOfAuteur, progressionOfChallenge } from './curves.js'
import type { DumpLine } from './harness.js'

/** The response to a request according to the contract, as far as it is predictable. */
export interface Expected {
  status: number
  body?: string
  total?: string | null
  /** The name of the offset parameter of a list. */
  debutName?: string
  /** The offsets of the links in Link, by relation. */
  links?: Record<string, number>
}

// biome-ignore lint/suspicious/noExplicitAny: records are plain dump lines
type Row = any
type Filters = Record<string, string | undefined>

interface List {
  rows: Row[]
  debutName: string
  /** Whether it is a text search, which counts its total up to 1,000 only. */
  isSearch?: boolean
  debut?: number
  toBody?: (rows: Row[]) => unknown
}

/**
 * The contract restated by brute force: arrays, sorts and filters over the lines of a dump, without SQL, indexes or code
 * of the server.
 */
export class Model {
  readonly rubriques: Row[]
  readonly auteurs: Row[]
  readonly challenges: Row[]
  readonly environnements: Row[]
  readonly classement: Row[]
  private readonly places = new Map<string, number>()
  private readonly validations: Row[]
  private readonly auteursById: Map<number, Row>
  private readonly challengesById: Map<number, Row>
  private readonly validationsByAuteur: Map<number, Row[]>
  private readonly validationsByChallenge: Map<number, Row[]>

  constructor(
    lines: Iterable<DumpLine>,
    hiddenStatuts = ['5poubelle'],
    private readonly departage: 'aucun' | 'date' = 'aucun',
    gel?: string,
  ) {
    const byType = groupBy([...lines] as Row[], (line) => line.type)
    const sorted = (type: string, id: string) => (byType.get(type) ?? []).toSorted((a, b) => a[id] - b[id])
    this.rubriques = sorted('rubrique', 'id_rubrique')
    this.challenges = sorted('challenge', 'id_challenge')
    this.environnements = sorted('environnement_virtuel', 'id_environnement_virtuel')
    this.validations = (byType.get('validation') ?? [])
      .map((line) => ({ ...line, date: utc(line.date) }))
      .filter(({ date }) => gel === undefined || (date !== null && date <= gel))
    this.challengesById = new Map(this.challenges.map((row) => [row.id_challenge, row]))
    this.validationsByAuteur = groupBy(this.validations, (row) => row.id_auteur)
    this.validationsByChallenge = groupBy(this.validations, (row) => row.id_challenge)
    this.auteurs = sorted('auteur', 'id_auteur').map((row) => {
      const solved = this.validationsByAuteur.get(row.id_auteur) ?? []
      const points = solved.reduce((sum, { id_challenge }) => sum + this.challengesById.get(id_challenge).score, 0)
      return {
        ...row,
        score: row.score ?? points,
        reached: this.reached([...this.datesOf(solved), utc(row.date_score)]),
      }
    })
    this.auteursById = new Map(this.auteurs.map((row) => [row.id_auteur, row]))
    this.classement = this.auteurs.filter((row) => !hiddenStatuts.includes(lowerAscii(row.statut))).toSorted(byRank)
  }

  /** When a score was reached: the latest of some dates; last if none is known. The same for all if dates break no ties. */
  private reached(dates: (string | null)[]): string {
    if (this.departage === 'aucun') return ''
    return (
      dates
        .filter((date) => date !== null)
        .toSorted(compare)
        .at(-1) ?? LATEST
    )
  }

  private datesOf(solved: Row[]): (string | null)[] {
    return solved.filter(({ id_challenge }) => this.challengesById.get(id_challenge).score > 0).map(({ date }) => date)
  }

  /** The response to a GET of a path and a well-formed query. */
  answer(target: string): Expected {
    const url = new URL(target, 'http://model')
    const filters: Filters = Object.fromEntries(url.searchParams)
    const [noun, id, part] = url.pathname.split('/').filter(Boolean)
    if (id === undefined) {
      if (noun === 'rubriques') return { status: 200, body: json(this.presentRubriques()), total: null }
      const list = this.list(noun as string, filters, idsOf(url.searchParams))
      return list ? this.page(url, list) : { status: 404 }
    }
    if (part === 'validations') {
      if (!this.challengesById.has(Number(id))) return { status: 404 }
      return this.page(url, { rows: this.solvers(Number(id)), debutName: 'debut_validations' })
    }
    if (id === 'periodes') return { status: 200, body: json(this.periodes()), total: null }
    const isCurve = part === 'progression' || id === 'histogramme'
    const body = isCurve ? this.curve(noun as string, Number(id), filters) : this.detail(noun as string, Number(id))
    return body ? { status: 200, body: json(body), total: null } : { status: 404 }
  }

  /** 1 + the number of ranked authors with a higher score, or the same score reached earlier. */
  place({ score, reached }: Row): number {
    const key = `${score} ${reached}`
    const place = this.places.get(key) ?? placeIn(this.classement, { score, reached })
    this.places.set(key, place)
    return place
  }

  private list(noun: string, filters: Filters, ids: number[] | undefined): List | undefined {
    const debutName = `debut_${noun}`
    if (noun === 'classement') return this.listClassement(filters, debutName, ids)
    if (noun === 'groupes') return { rows: this.groupes(), debutName }
    if (noun === 'environnements_virtuels') {
      const rows = this.environnements.filter((row) => has(row.nom, filters.nom) && isSame(row.os, filters.os))
      return { rows, debutName, isSearch: isText(filters.nom), toBody: (page) => page.map(environnementItem) }
    }
    if (noun === 'auteurs') {
      const rows = this.auteurs
        .filter((row) => has(row.nom, filters.nom) && isSame(row.statut, filters.statut))
        .filter((row) => isSame(row.lang, filters.lang) && (!ids || ids.includes(row.id_auteur)))
        .filter((row) => isSame(row.groupe, filters.groupe))
      const toBody = (page: Row[]) => Object.fromEntries(page.map((row, index) => [String(index), named(row)]))
      return { rows, debutName, isSearch: isText(filters.nom), toBody }
    }
    const rows = this.challenges
      .filter((row) => has(row.titre, filters.titre) && has(row.soustitre, filters.soustitre))
      .filter((row) => isSame(row.lang, filters.lang) && isNumber(row.score, filters.score))
      .filter((row) => isNumber(row.id_rubrique, filters.id_rubrique))
      .filter((row) => !ids || (row.auteurs ?? []).some((id: number) => ids.includes(id)))
    const isSearch = isText(filters.titre) || isText(filters.soustitre)
    return { rows, debutName, isSearch, toBody: (page) => page.map((row) => this.challengeItem(row)) }
  }

  /** The groups of ranked authors, spelled as the one with the lowest id has them. */
  private groupes(): { nom: string; nb_auteurs: number }[] {
    const ranked = this.classement.filter(({ groupe }) => groupe).toSorted((a, b) => a.id_auteur - b.id_auteur)
    return [...groupBy(ranked, ({ groupe }) => lowerAscii(groupe))]
      .map(([key, members]) => ({ key, nom: members[0].groupe, nb_auteurs: members.length }))
      .toSorted((a, b) => compare(fold(a.nom), fold(b.nom)) || compare(a.key, b.key))
      .map(({ nom, nb_auteurs }) => ({ nom, nb_auteurs }))
  }

  private listClassement(filters: Filters, debutName: string, ids: number[] | undefined): List | undefined {
    const ranked = ids ? this.classement.filter((row) => ids.includes(row.id_auteur)) : this.ranked(filters)
    if (!ranked) return undefined
    const rows = ranked.map((row, index) => ({ row, index }))
    const toBody = (page: { row: Row }[]) =>
      page.map(({ row }) => {
        const { nom, score, id_auteur } = row
        const place = ranked === this.classement ? this.place(row) : placeIn(ranked, row)
        const position = ids && { position: this.place(row) }
        return { place, nom, score: String(score), id_auteur: String(id_auteur), ...position }
      })
    if (filters.autour_de === undefined) return { rows, debutName, toBody }
    const own = rows.findIndex(({ row }) => String(row.id_auteur) === filters.autour_de)
    if (own < 0) return undefined
    return { rows, debutName, toBody, debut: Math.max(0, own - Math.floor(Number(filters.limite ?? 100) / 2)) }
  }

  /** The ranking, or the ranking of a group, a category or a period. */
  private ranked({ groupe, id_rubrique, periode }: Filters): Row[] | undefined {
    if (groupe) return this.classement.filter((row) => isSame(row.groupe, groupe))
    if (!id_rubrique && !periode) return this.classement
    if (id_rubrique && !this.rubriques.some((row) => row.id_rubrique === Number(id_rubrique))) return undefined
    const counts = ({ id_challenge, date }: Row) =>
      id_rubrique
        ? this.challengesById.get(id_challenge).id_rubrique === Number(id_rubrique)
        : date?.startsWith(`${periode}-`)
    return this.classement
      .flatMap((row) => {
        const solved = (this.validationsByAuteur.get(row.id_auteur) ?? []).filter(counts)
        const score = solved.reduce((sum, { id_challenge }) => sum + this.challengesById.get(id_challenge).score, 0)
        return solved.length === 0 ? [] : [{ ...row, score, reached: this.reached(this.datesOf(solved)) }]
      })
      .toSorted(byRank)
  }

  private periodes(): { periode: string; mois: string[] }[] {
    const solved = this.classement.flatMap((row) => this.validationsByAuteur.get(row.id_auteur) ?? [])
    const months = [...new Set(solved.flatMap(({ date }) => (date ? [date.slice(0, 7) as string] : [])))].sort()
    const years = [...new Set(months.map((month) => month.slice(0, 4)))].reverse()
    return years.map((periode) => ({ periode, mois: months.filter((month) => month.startsWith(periode)) }))
  }

  private page(url: URL, { rows, debutName, isSearch, debut: given, toBody }: List): Expected {
    const limite = Number(url.searchParams.get('limite') ?? 100)
    const debut = given ?? Number(url.searchParams.get(debutName) ?? 0)
    const page = rows.slice(debut, debut + limite)
    const last = Math.max(0, Math.floor((rows.length - 1) / limite) * limite)
    const isTotalKnown = !isSearch || rows.length <= 1000
    const links: Record<string, number> = { first: 0 }
    if (debut > 0 && rows.length > 0) links.prev = debut >= rows.length ? last : Math.max(0, debut - limite)
    if (debut + limite < rows.length) links.next = debut + limite
    if (isTotalKnown) links.last = last
    return {
      status: 200,
      body: json(toBody ? toBody(page) : page),
      total: isTotalKnown ? String(rows.length) : null,
      debutName,
      links,
    }
  }

  private curve(noun: string, id: number, filters: Filters): unknown {
    if (noun === 'classement') {
      const ranked = this.ranked(filters)
      return ranked && histogramme(ranked.map(({ score }) => score))
    }
    if (noun === 'challenges') {
      const dates = (this.validationsByChallenge.get(id) ?? []).map(({ date }) => date)
      return this.challengesById.has(id) ? progressionOfChallenge(id, dates) : undefined
    }
    const auteur = this.auteursById.get(id)
    const solved = this.validationsByAuteur.get(id) ?? []
    const solves = solved.map(({ id_challenge, date }) => ({
      date,
      score: this.challengesById.get(id_challenge).score,
    }))
    return auteur && progressionOfAuteur(id, auteur.score, solves)
  }

  private detail(noun: string, id: number): unknown {
    if (noun === 'challenges') return this.challenge(this.challengesById.get(id))
    if (noun === 'auteurs') return this.auteur(this.auteursById.get(id))
    return environnement(this.environnements.find((row) => row.id_environnement_virtuel === id))
  }

  private presentRubriques(): unknown {
    return this.rubriques.map(({ id_rubrique, nom }) => {
      return {
        id_rubrique,
        nom,
        nb_challenges: this.challenges.filter((row) => row.id_rubrique === id_rubrique).length,
      }
    })
  }

  private challengeItem(row: Row): Row {
    return {
      id_challenge: row.id_challenge,
      titre: row.titre,
      soustitre: row.soustitre ?? '',
      lang: row.lang ?? '',
      score: row.score,
      id_rubrique: row.id_rubrique,
      rubrique: this.rubriques.find(({ id_rubrique }) => id_rubrique === row.id_rubrique).nom,
      difficulte: row.difficulte ?? '',
      id_trad: row.id_trad ?? null,
      url_challenge: pageUrl(row),
      date_publication: utc(row.date_publication),
      nb_validations: this.validationsByChallenge.get(row.id_challenge)?.length ?? 0,
    }
  }

  private challenge(row: Row): unknown {
    if (!row) return undefined
    const item = this.challengeItem(row)
    const isTranslation = (other: Row) => other === row || (item.id_trad !== null && other.id_trad === item.id_trad)
    const traductions = this.challenges.filter(isTranslation)
    return {
      titre: item.titre,
      descriptif: row.descriptif ?? '',
      score: item.score,
      id_rubrique: item.id_rubrique,
      id_challenge: item.id_challenge,
      soustitre: item.soustitre,
      rubrique: item.rubrique,
      lang: item.lang,
      difficulte: item.difficulte,
      id_trad: item.id_trad,
      traductions: traductions.map(({ id_challenge, lang }) => ({ id_challenge, lang: lang ?? '' })),
      url_challenge: item.url_challenge,
      date_publication: item.date_publication,
      auteurs: this.auteurs.filter(({ id_auteur }) => (row.auteurs ?? []).includes(id_auteur)).map(named),
      nb_validations: item.nb_validations,
      premiere_validation: this.solvers(row.id_challenge)[0] ?? null,
    }
  }

  private solvers(idChallenge: number): Row[] {
    return (this.validationsByChallenge.get(idChallenge) ?? [])
      .toSorted((a, b) => compare(a.date ?? LATEST, b.date ?? LATEST) || a.id_auteur - b.id_auteur)
      .map(({ id_auteur, date }) => ({ ...named(this.auteursById.get(id_auteur)), date }))
  }

  private auteur(row: Row): unknown {
    if (!row) return undefined
    const validations = (this.validationsByAuteur.get(row.id_auteur) ?? [])
      .toSorted((a, b) => compare(b.date ?? '', a.date ?? '') || a.id_challenge - b.id_challenge)
      .map(({ id_challenge, date }) => {
        const { titre, id_rubrique, score } = this.challengesById.get(id_challenge)
        return { id_challenge, titre, id_rubrique, score, date }
      })
    return {
      nom: row.nom,
      score: row.score,
      position: this.place(row),
      challenges: this.challenges
        .filter(({ auteurs = [] }) => auteurs.includes(row.id_auteur))
        .map((written) => {
          return { id_challenge: written.id_challenge, url_challenge: pageUrl(written), titre: written.titre }
        }),
      id_auteur: String(row.id_auteur),
      statut: row.statut ?? '',
      lang: row.lang ?? '',
      nb_validations: validations.length,
      validations,
      groupe: row.groupe ?? '',
    }
  }
}

const LATEST = '9999-99'

function idsOf(parameters: URLSearchParams): number[] | undefined {
  const sent = [...parameters].filter(([name, value]) => /^id_auteur(\[\d*\])?$/.test(name) && value !== '')
  return sent.length === 0 ? undefined : sent.flatMap(([, value]) => value.split(',').map(Number))
}

function groupBy<K>(rows: Row[], keyOf: (row: Row) => K): Map<K, Row[]> {
  const groups = new Map<K, Row[]>()
  for (const row of rows) groups.get(keyOf(row))?.push(row) ?? groups.set(keyOf(row), [row])
  return groups
}

function named({ id_auteur, nom }: Row): Row {
  return { id_auteur: String(id_auteur), nom }
}

function environnementItem({ id_environnement_virtuel, nom, os = '' }: Row): Row {
  return { id_environnement_virtuel, nom, os }
}

function environnement(row: Row): unknown {
  if (!row) return undefined
  const { statut = '', lang = '', description_fr = '', description_en = '', time_to_root = null } = row
  return { ...environnementItem(row), statut, lang, description_fr, description_en, time_to_root }
}

function pageUrl({ id_challenge, url_challenge = '' }: Row): string {
  if (url_challenge.startsWith('http')) return url_challenge
  return `http://127.0.0.1:8080/portail/${url_challenge.replace(/^\/+/, '') || `challenges/${id_challenge}`}`
}

const folded = new Map<string, string>()

/** Each text is folded once, as a list may be searched often. */
function fold(text: string): string {
  const known = folded.get(text)
  if (known !== undefined) return known
  const made = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ς', 'σ')
  folded.set(text, made)
  return made
}

function lowerAscii(text = ''): string {
  return [...text].map((letter) => (/[A-Z]/.test(letter) ? letter.toLowerCase() : letter)).join('')
}

function has(text = '', needle = ''): boolean {
  return needle === '' || fold(text).includes(fold(needle))
}

function isText(needle = ''): boolean {
  return fold(needle) !== ''
}

function isSame(text = '', wanted = ''): boolean {
  return wanted === '' || lowerAscii(text) === lowerAscii(wanted)
}

function isNumber(value: number, wanted = ''): boolean {
  return wanted === '' || value === Number(wanted)
}

/** An instant of a dump in the format of the API. */
function utc(date: string | null | undefined): string | null {
  return date ? `${new Date(date).toISOString().slice(0, 19)}Z` : null
}

function byRank(a: Row, b: Row): number {
  return b.score - a.score || compare(a.reached, b.reached) || a.id_auteur - b.id_auteur
}

/** 1 + the number of rows with a higher score, or the same score reached earlier, in rows from the highest on. */
function placeIn(ranked: Row[], { score, reached }: Row): number {
  const first = ranked.findIndex((row) => row.score < score || (row.score === score && row.reached >= reached))
  return 1 + (first < 0 ? ranked.length : first)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function json(value: unknown): string {
  return JSON.stringify(value).replace(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
