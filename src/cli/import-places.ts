import type { TieBreak } from '../model/store-settings.js'
import type { ComparedPlaces, IncomparablePlaces } from '../portal/places.js'
import { harmless, print } from './output.js'

const MAX_NAME_CHARACTERS = 60

/** Prints how the places of the portal differ from those of an imported file. */
export function printPlaces(places: ComparedPlaces | IncomparablePlaces): void {
  for (const line of linesOf(places)) print(`  ${line}`)
}

function linesOf(places: ComparedPlaces | IncomparablePlaces): string[] {
  if ('why' in places) return places.nbRows === 0 ? [] : [`places: not compared, as ${reason(places)}`]
  const { departage, compared, unplaced, differing, first } = places
  const nb = differing[departage]
  const rest = unplaced === 0 ? '' : `; ${unplaced} without a place there`
  if (nb === 0) return [`places: all ${compared} are as in the file${rest}`]
  return [
    `places: ${nb} of ${compared} ${nb === 1 ? 'differs' : 'differ'} from the file${rest}`,
    ...first.map(({ nom, published, place }) => `  ${shown(nom)}: ${published} in the file, ${place} in the portal`),
    ...(nb > first.length ? [`  and ${nb - first.length} more`] : []),
    remedy(places),
  ]
}

function reason(places: IncomparablePlaces): string {
  if (places.why === 'no places') return 'the file has none'
  return `the portal ranks ${places.nbRanked} players and the file has ${places.nbRows}`
}

/** What the other way of breaking ties would change. */
function remedy({ departage, differing, hasDates }: ComparedPlaces): string {
  if (!hasDates) return 'No setting reproduces the places of the file, because it has no times.'
  const other: TieBreak = departage === 'date' ? 'aucun' : 'date'
  const rest = differing[other] === 0 ? 'none' : String(differing[other])
  const advice = differing[other] < differing[departage] ? `: palmares settings set departage ${other}` : ''
  return `With departage ${other}, ${rest} would differ${advice}`
}

function shown(nom: string): string {
  const characters = [...nom]
  const short = characters.length > MAX_NAME_CHARACTERS ? `${characters.slice(0, MAX_NAME_CHARACTERS).join('')}…` : nom
  return harmless(JSON.stringify(short))
}
