import demo from './demo.json' with { type: 'json' }

// Masculine nouns only, so that every adjective agrees with every one of them.
const ANIMALS = demo.words.animals.split(' ')
const OBJECTS = demo.words.objects.split(' ')
const ADJECTIVES = demo.words.adjectives.split(' ')
const PLACES = demo.words.places.split(' ')
const FOREIGN = demo.words.foreign.split(' ')

/** `count` distinct pseudonyms (letter case aside) made of French words; none is a person's name. */
export function demoNames(count: number, random: Random): string[] {
  const names = new Map<string, string>()
  while (names.size < count) {
    const name = pseudonym(random)
    const key = name.toLowerCase()
    if (!names.has(key)) names.set(key, name)
  }
  return [...names.values()]
}

/** Draws a number from 0 to below 1. */
export type Random = () => number

function pseudonym(random: Random): string {
  const draw = (n: number) => Math.floor(random() * n)
  const one = (list: readonly string[]) => list[draw(list.length)]!
  const noun = draw(3) === 0 ? one(OBJECTS) : one(ANIMALS)
  const adjective = one(ADJECTIVES)
  const number = draw(4) === 0 ? 1970 + draw(56) : draw(100)
  const form = draw(100)
  if (form < 24) return `${noun}_${adjective}`
  if (form < 42) return `${capitalized(noun)}-${capitalized(adjective)}${number}`
  if (form < 58) return `${noun}${number}`
  if (form < 70) return capitalized(noun) + capitalized(adjective)
  if (form < 80) return `${noun}_du_${one(PLACES)}`
  if (form < 86) return `${leet(noun)}_${leet(adjective)}`
  if (form < 91) return withArticle(noun, adjective)
  if (form < 96) return `${noun}.${adjective}.${number}`
  return form < 98 ? `${one(FOREIGN)}_${adjective}` : `${noun}${one(FOREIGN)}${number}`
}

function withArticle(noun: string, adjective: string): string {
  // The words in h and y of the lists are all aspirated: only the five vowels elide the article.
  return /^[aeiou]/.test(withoutAccents(noun))
    ? `L'${capitalized(noun)} ${adjective}`
    : `Le ${capitalized(noun)} ${adjective}`
}

function leet(word: string): string {
  return withoutAccents(word).replace(/[aeio]/g, (c) => ({ a: '4', e: '3', i: '1', o: '0' })[c]!)
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The same text with bare Latin letters: `Élan` gives `Elan`, `cœur` gives `coeur`. */
export function withoutAccents(text: string): string {
  return text.replace(/œ/g, 'oe').normalize('NFD').replace(/\p{M}/gu, '')
}
