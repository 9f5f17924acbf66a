// Masculine nouns only, so that every adjective below agrees with every one of them.
const ANIMAUX = mots(`renard hibou élan lièvre castor blaireau loup ours chat chien cerf daim chamois bouquetin furet
  putois vison phoque morse dauphin cachalot narval homard crabe oursin poulpe calmar requin saumon brochet goujon
  gardon silure héron cygne canard corbeau moineau pinson rouge-gorge vautour faucon épervier coucou paon dindon
  lézard crapaud triton orvet escargot bourdon frelon papillon scarabée grillon criquet hérisson écureuil mulot loir
  lama zèbre tapir panda tatou pangolin okapi chameau dromadaire buffle bison yack`)
const OBJETS = mots(`marteau tournevis rabot burin maillet ciseau pinceau crayon compas levier boulon ressort piston
  rouage engrenage aimant sextant gouvernail cordage hamac tambour accordéon clavecin piano sablier réveil parapluie
  bouton lampion chaudron entonnoir tamis moulin fanal octet pixel paquet noyau clavier modem routeur tampon registre`)
const ADJECTIFS = mots(`bleu vert rouge jaune noir blanc gris violet orange doré argenté cuivré rapide lent têtu patient
  bavard discret rusé distrait curieux prudent joyeux grognon rêveur dormeur moqueur vaillant farouche paisible
  nocturne matinal boréal austral polaire lunaire solaire fantôme masqué perdu perché penché pressé givré salé sucré
  poivré croquant velu rayé tacheté carré pointu binaire crypté quantique numérique oblique sauvage invisible minuscule
  géant ambulant volant flottant silencieux tranquille`)
const LIEUX = mots(`grenier marais port phare canal toit jardin verger sous-sol village moulin lac ravin bocage volcan
  donjon tunnel quai désert glacier`)
const AILLEURS = mots(`狐 лис ёж γλαύκα カラス ثعلب ñandú 여우 барсук 🦊 🐢 🦉 🐙 🌶️ ⚙️ 🧩`)

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

function mots(texte: string): string[] {
  return texte.split(/\s+/)
}
