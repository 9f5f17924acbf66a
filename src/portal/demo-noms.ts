import demo from './demo.json' with { type: 'json' }

// Masculine nouns only, so that every adjective agrees with every one of them.
const ANIMAUX = demo.mots.animaux.split(' ')
const OBJETS = demo.mots.objets.split(' ')
const ADJECTIFS = demo.mots.adjectifs.split(' ')
const LIEUX = demo.mots.lieux.split(' ')
const AILLEURS = demo.mots.ailleurs.split(' ')

/**
 * `count` distinct pseudonyms (letter case aside) made of French words; none is a person's name.
 * `alea` draws numbers from 0 to below 1.
 */
export function demoNoms(count: number, alea: () => number): string[] {
  const noms = new Map<string, string>()
  while (noms.size < count) {
    const nom = pseudonyme(alea)
    const cle = nom.toLowerCase()
    if (!noms.has(cle)) noms.set(cle, nom)
  }
  return [...noms.values()]
}

function pseudonyme(alea: () => number): string {
  const tirage = (n: number) => Math.floor(alea() * n)
  const un = (liste: readonly string[]) => liste[tirage(liste.length)]!
  const nom = tirage(3) === 0 ? un(OBJETS) : un(ANIMAUX)
  const adjectif = un(ADJECTIFS)
  const nombre = tirage(4) === 0 ? 1970 + tirage(56) : tirage(100)
  const tour = tirage(100)
  if (tour < 24) return `${nom}_${adjectif}`
  if (tour < 42) return `${capitale(nom)}-${capitale(adjectif)}${nombre}`
  if (tour < 58) return `${nom}${nombre}`
  if (tour < 70) return capitale(nom) + capitale(adjectif)
  if (tour < 80) return `${nom}_du_${un(LIEUX)}`
  if (tour < 86) return `${leet(nom)}_${leet(adjectif)}`
  if (tour < 91) return avecArticle(nom, adjectif)
  if (tour < 96) return `${nom}.${adjectif}.${nombre}`
  return tour < 98 ? `${un(AILLEURS)}_${adjectif}` : `${nom}${un(AILLEURS)}${nombre}`
}

function avecArticle(nom: string, adjectif: string): string {
  // The words in h and y of the lists are all aspirated: only the five vowels elide the article.
  return /^[aeiou]/.test(sansAccents(nom)) ? `L'${capitale(nom)} ${adjectif}` : `Le ${capitale(nom)} ${adjectif}`
}

function leet(mot: string): string {
  return sansAccents(mot).replace(/[aeio]/g, (c) => ({ a: '4', e: '3', i: '1', o: '0' })[c]!)
}

function capitale(mot: string): string {
  return mot.charAt(0).toUpperCase() + mot.slice(1)
}

/** The same text with bare Latin letters: `Élan` gives `Elan`, `cœur` gives `coeur`. */
export function sansAccents(texte: string): string {
  return texte.replace(/œ/g, 'oe').normalize('NFD').replace(/\p{M}/gu, '')
}
