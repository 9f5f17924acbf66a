import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { getAuteur, listAuteurs } from '../auteurs/contract.js'
import { getChallenge, listChallenges } from '../challenges/contract.js'
import { getEnvironnement, listEnvironnements } from '../environnements_virtuels/contract.js'
import { listRubriques } from '../rubriques/contract.js'
import { storedUrl } from './portal-address.js'
import { idOf, rowOfLink, shaped, throwIfAnother } from './shape.js'
import type { Listed, Noun, Place, Source } from './source.js'

const PAGE_ROWS = 500

/** Schemas of the contract are there for every operation that answers a body. */
const bodies = {
  rubriques: listRubriques.response!,
  challenges: listChallenges.response!,
  auteurs: listAuteurs.response!,
  environnements_virtuels: listEnvironnements.response!,
  challenge: getChallenge.response!,
  auteur: getAuteur.response!,
  environnement: getEnvironnement.response!,
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
      const { id_rubrique, titre, soustitre, descriptif, lang, score, difficulte, id_trad, date_publication } = read
      const url_challenge = toStored(read.url_challenge, id)
      return {
        fields: {
          ...{ id_rubrique, titre, soustitre, descriptif, lang, score, difficulte },
          ...{ id_trad, url_challenge, date_publication },
        },
        rubrique: { id_rubrique, nom: read.rubrique },
        auteurs: read.auteurs.map(({ id_auteur, nom }) => ({ id_auteur: idOf(id_auteur, 'id_auteur', at), nom })),
      }
    },
    readAuteur(id, at, body) {
      const { id_auteur, nom, statut, lang, score, validations } = shaped(bodies.auteur, at, body)
      throwIfAnother(id, idOf(id_auteur, 'id_auteur', at), at)
      return {
        fields: { nom, statut, lang, score },
        validations: validations.map(({ id_challenge, date }) => ({ id_challenge, date })),
      }
    },
    readEnvironnement(id, at, body) {
      const read = shaped(bodies.environnement, at, body)
      throwIfAnother(id, read.id_environnement_virtuel, at)
      const { nom, os, statut, lang, description_fr, description_en, time_to_root } = read
      return { nom, os, statut, lang, description_fr, description_en, time_to_root }
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
