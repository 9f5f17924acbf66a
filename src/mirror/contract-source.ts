import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { IdText, Score } from '../contract.js'
import { Id } from '../parameters.js'
import { storedUrl } from './portal-address.js'
import { idOf, known, Maybe, rowOfLink, shaped, textOf, throwIfAnother } from './shape.js'
import type { Listed, Noun, Place, Source } from './source.js'

const PAGE_ROWS = 500

/** What a portal must tell, and `Maybe` what may be unknown; what is not copied is not looked at. */
const Text = Maybe(Type.String())
const bodies = {
  rubriques: Type.Array(Type.Object({ id_rubrique: Id, nom: Type.String() })),
  challenges: Type.Array(Type.Object({ id_challenge: Id })),
  auteurs: Type.Record(Type.String({ pattern: '^(0|[1-9][0-9]*)$' }), Type.Object({ id_auteur: IdText })),
  environnements_virtuels: Type.Array(Type.Object({ id_environnement_virtuel: Id })),
  challenge: Type.Object({
    ...{ id_challenge: Id, id_rubrique: Id, titre: Type.String(), score: Score },
    ...{ rubrique: Text, soustitre: Text, descriptif: Text, lang: Text, difficulte: Text, url_challenge: Text },
    ...{ id_trad: Maybe(Id), date_publication: Text },
    auteurs: Maybe(Type.Array(Type.Object({ id_auteur: IdText, nom: Type.String() }))),
  }),
  auteur: Type.Object({
    ...{ id_auteur: IdText, nom: Type.String(), statut: Text, lang: Text, score: Maybe(Score) },
    validations: Maybe(Type.Array(Type.Object({ id_challenge: Id, date: Text }))),
  }),
  environnement: Type.Object({
    ...{ id_environnement_virtuel: Id, nom: Type.String(), os: Text, statut: Text, lang: Text },
    ...{ description_fr: Text, description_en: Text, time_to_root: Maybe(Type.Integer({ minimum: 0 })) },
  }),
}

const Problem = Type.Object({ code: Type.Literal('resource_not_found') })

/** The contract of docs/API.md. */
export function contractSource(portalUrl: string): Source {
  const toStored = storedUrl(portalUrl)
  return {
    dialect: 'contract',
    pageOf: (noun, debut) => `/${noun}?limite=${PAGE_ROWS}${debut === 0 ? '' : `&debut_${noun}=${debut}`}`,
    readPage(noun, debut, at, body, headers) {
      const total = headers['x-total-count']
      return {
        rows: rowsOf(noun, at, body),
        next: nextRow(noun, debut, at, headers),
        total: typeof total === 'string' && /^\d{1,15}$/.test(total) ? Number(total) : undefined,
      }
    },
    nextOf: (noun, debut, at, headers) =>
      headers.link === undefined ? undefined : { next: nextRow(noun, debut, at, headers) },
    rubriques: {
      path: '/rubriques',
      read: (at, body) => shaped(bodies.rubriques, at, body).map(({ id_rubrique, nom }) => ({ id_rubrique, nom })),
    },
    readChallenge({ id }, at, body) {
      const read = shaped(bodies.challenge, at, body)
      throwIfAnother(id, read.id_challenge, at)
      const { id_rubrique, titre, score, soustitre, descriptif, lang, difficulte, id_trad, date_publication } = read
      const url_challenge = toStored(textOf(read.url_challenge), id)
      const auteurs = known(read.auteurs, (rows) => rows) ?? []
      return {
        fields: {
          ...{ id_rubrique, titre, soustitre, descriptif, lang, score, difficulte },
          ...{ id_trad: known(id_trad, Number), url_challenge, date_publication: known(date_publication, String) },
        },
        rubrique: { id_rubrique, nom: textOf(read.rubrique) },
        auteurs: auteurs.map(({ id_auteur, nom }) => ({ id_auteur: idOf(id_auteur, 'id_auteur', at), nom })),
      }
    },
    readAuteur(id, at, body) {
      const { id_auteur, nom, statut, lang, score, validations } = shaped(bodies.auteur, at, body)
      throwIfAnother(id, idOf(id_auteur, 'id_auteur', at), at)
      const solved = known(validations, (rows) => rows) ?? []
      return {
        fields: { nom, statut: textOf(statut), lang: textOf(lang), score: known(score, Number) },
        validations: solved.map(({ id_challenge, date }) => ({ id_challenge, date: known(date, String) })),
      }
    },
    readEnvironnement(id, at, body) {
      const read = shaped(bodies.environnement, at, body)
      throwIfAnother(id, read.id_environnement_virtuel, at)
      const { nom, os, statut, lang, description_fr, description_en, time_to_root } = read
      return { nom, os, statut, lang, description_fr, description_en, time_to_root: known(time_to_root, Number) }
    },
    isNothing: (body) => Check(Problem, body),
  }
}

function rowsOf(noun: Noun, at: Place, body: unknown): Listed[] {
  const ids = {
    challenges: () => shaped(bodies.challenges, at, body).map(({ id_challenge }) => id_challenge),
    auteurs: () =>
      Object.values(shaped(bodies.auteurs, at, body)).map(({ id_auteur }) => idOf(id_auteur, 'id_auteur', at)),
    environnements_virtuels: () =>
      shaped(bodies.environnements_virtuels, at, body).map((row) => row.id_environnement_virtuel),
  }[noun]()
  return ids.map((id) => ({ id, note: '' }))
}

/** The row of the link `next` (RFC 8288). */
function nextRow(noun: Noun, debut: number, at: Place, { link = '' }: IncomingHttpHeaders): number | undefined {
  const text = Array.isArray(link) ? link.join(',') : link
  for (const [, href, parameters] of text.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*"?next"?\s*(,|;|$)/i.test(parameters as string)) {
      return rowOfLink(href as string, noun, debut, at)
    }
  }
  return undefined
}
