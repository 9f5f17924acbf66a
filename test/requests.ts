import fc from 'fast-check'
import type { DumpLine } from './harness.js'

/** One request of any kind, sensible or not. */
export interface Asked {
  /** The route in the contract. It has no slash if nothing is served there. */
  route: string
  method: string
  /** Path and query as they are sent. */
  target: string
  credential: 'key' | 'bearer' | 'none' | 'invalid' | 'both'
  /** The tag in If-None-Match. */
  tag: 'none' | 'right' | 'weak' | 'listed' | 'wrong' | 'any'
}

/** The values of a portal, for use in requests. */
export interface Known {
  ids: Record<'auteurs' | 'challenges' | 'environnements_virtuels', readonly number[]>
  texts: Record<'nom' | 'titre' | 'soustitre', readonly string[]>
  words: Record<'lang' | 'statut' | 'os' | 'groupe', readonly string[]>
  rubriques: readonly number[]
  /** Years and months. */
  periodes: readonly string[]
}

export function knownOf(lines: readonly DumpLine[]): Known {
  const values = <T>(name: string, ofType?: string) => [
    ...new Set(lines.filter(({ type }) => !ofType || type === ofType).map((line) => line[name] as T)),
  ]
  const ids = (type: string, name: string) => values<number>(name, type).filter((id) => id !== undefined)
  const texts = (name: string) => values<string>(name).filter((text) => typeof text === 'string' && text !== '')
  return {
    ids: {
      auteurs: ids('auteur', 'id_auteur'),
      challenges: ids('challenge', 'id_challenge'),
      environnements_virtuels: ids('environnement_virtuel', 'id_environnement_virtuel'),
    },
    texts: { nom: texts('nom'), titre: texts('titre'), soustitre: texts('soustitre') },
    words: { lang: texts('lang'), statut: texts('statut'), os: texts('os'), groupe: texts('groupe') },
    rubriques: ids('rubrique', 'id_rubrique'),
    periodes: [...new Set(texts('date').flatMap((date) => [date.slice(0, 4), date.slice(0, 7)]))],
  }
}

export function anyRequest(known: Known): fc.Arbitrary<Asked> {
  const place = weighted(
    [14, list('/challenges', known)],
    [14, list('/auteurs', known)],
    [12, list('/classement', known)],
    [8, list('/environnements_virtuels', known)],
    [8, list('/challenges/{id_challenge}/validations', known)],
    [2, list('/rubriques', known)],
    [3, list('/classement/histogramme', known)],
    [2, list('/classement/periodes', known)],
    [1, list('/classement/regles', known)],
    [3, list('/groupes', known)],
    [6, detail('challenges', 'id_challenge', known)],
    [6, detail('auteurs', 'id_auteur', known)],
    [2, detail('challenges', 'id_challenge', known, '/progression')],
    [2, detail('auteurs', 'id_auteur', known, '/progression')],
    [4, detail('environnements_virtuels', 'id_environnement_virtuel', known)],
    [4, oddPlace],
  )
  const method = weighted(
    [30, fc.constant('GET')],
    [2, fc.constant('HEAD')],
    [1, fc.constantFrom('POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND')],
  )
  const credential = weighted(
    [30, fc.constantFrom('key' as const, 'bearer' as const, 'both' as const)],
    [2, fc.constantFrom('none' as const, 'invalid' as const)],
  )
  const tag = weighted(
    [6, fc.constant('none' as const)],
    [1, fc.constantFrom('right' as const, 'weak' as const, 'listed' as const, 'wrong' as const, 'any' as const)],
  )
  return fc.record({ place, method, credential, tag }).map(({ place, ...rest }) => ({ ...place, ...rest }))
}

interface Place {
  route: string
  target: string
}

/** The parameters of each list, by kind of value. */
const LISTS: Record<string, Record<string, Kind>> = {
  '/challenges': {
    ...{ titre: 'needle', soustitre: 'needle', lang: 'word', score: 'score', id_rubrique: 'rubrique' },
    ...{ id_auteur: 'ids', debut_challenges: 'debut', limite: 'limite' },
  },
  '/auteurs': {
    ...{ nom: 'needle', statut: 'word', lang: 'word', id_auteur: 'ids', debut_auteurs: 'debut', limite: 'limite' },
    groupe: 'word',
  },
  '/classement': {
    ...{ debut_classement: 'debut', autour_de: 'auteur', limite: 'limite' },
    ...{ id_rubrique: 'rubrique', periode: 'periode', groupe: 'word', id_auteur: 'ids' },
  },
  '/environnements_virtuels': {
    ...{ nom: 'needle', os: 'word', debut_environnements_virtuels: 'debut', limite: 'limite' },
  },
  '/challenges/{id_challenge}/validations': { debut_validations: 'debut', limite: 'limite' },
  '/rubriques': {},
  '/classement/periodes': {},
  '/classement/regles': {},
  '/groupes': { debut_groupes: 'debut', limite: 'limite' },
  '/classement/histogramme': { id_rubrique: 'rubrique', periode: 'periode', groupe: 'word' },
}

type Kind = 'needle' | 'word' | 'score' | 'rubrique' | 'periode' | 'ids' | 'auteur' | 'debut' | 'limite'

function list(route: string, known: Known): fc.Arbitrary<Place> {
  const own = Object.entries(LISTS[route] as Record<string, Kind>)
  const parameter =
    own.length === 0 ? strayParameter : weighted([20, fc.constantFrom(...own).chain(given(known))], [1, strayParameter])
  const parameters = fc.array(parameter, { maxLength: 3, size: 'max' })
  const path = route.includes('{')
    ? id(known.ids.challenges).map((each) => `/challenges/${each}/validations`)
    : fc.constant(route)
  return fc
    .record({ path: path.chain(spelled), parameters: parameters.chain(someTwice) })
    .map(({ path, parameters }) => {
      return { route, target: parameters.length === 0 ? path : `${path}?${parameters.flat().join('&')}` }
    })
}

function detail(noun: keyof Known['ids'], name: string, known: Known, part = ''): fc.Arbitrary<Place> {
  const path = weighted([7, id(known.ids[noun])], [1, badNumber]).map((each) => `/${noun}/${each}${part}`)
  const query = weighted([9, fc.constant([] as string[])], [1, strayParameter])
  return fc.record({ path: path.chain(spelled), query }).map(({ path, query }) => {
    return { route: `/${noun}/{${name}}${part}`, target: path + query.map((each) => `?${each}`).join('') }
  })
}

const oddPlace: fc.Arbitrary<Place> = weighted(
  [2, fc.constantFrom('/openapi.json', '/health/live', '/health/ready', '/cles_api')],
  [1, fc.constantFrom('/login', '/login?login=x', '/login?login=a&login=b&password=c')],
  [
    3,
    fc.constantFrom(
      ...['/nulle-part', '/auteurs/1/x', '/challenges/1/validations/2', '/health', '/.env', '/CLASSEMENT', '/auteurs/'],
      ...['/%00', '/%FF', '/%zz', '/auteurs/%31', '/auteurs%2F1', '/classement;x=1', '/challenges/1//validations/'],
      ...['/auteurs/../classement', '/auteurs/%2e%2e/classement', '/cles_api/1', '/%ED%A0%80'],
    ),
  ],
).map((target) => ({ route: target.startsWith('/openapi') || target.startsWith('/health/') ? target : 'odd', target }))

/** A path, sometimes with too many slashes. */
function spelled(path: string): fc.Arbitrary<string> {
  return weighted(
    [14, fc.constant(path)],
    [1, fc.constantFrom(`${path}/`, `/${path}`, path.replaceAll('/', '//'), `${path}//`)],
  )
}

/** Sometimes repeats a parameter, with another value or with the same. */
function someTwice(parameters: string[][]): fc.Arbitrary<string[][]> {
  const again = fc.constantFrom(...parameters.flatMap((each) => [each, each.map((pair) => `${pair}1`)]), [])
  return weighted([14, fc.constant(parameters)], [1, again.map((more) => [...parameters, more])])
}

/** The pairs of a query for a parameter. */
function given(known: Known): (parameter: [string, Kind]) => fc.Arbitrary<string[]> {
  return ([name, kind]) => {
    if (kind === 'ids') return listOfIds(name, known)
    const good = goodValue(name, kind, known)
    const bad = kind === 'needle' || kind === 'word' ? badText : badNumber
    return weighted([9, good], [1, bad]).map((value) => [`${name}=${value}`])
  }
}

function goodValue(name: string, kind: Kind, known: Known): fc.Arbitrary<string> {
  if (kind === 'needle') return needle(known.texts[name as 'nom']).map(encoded)
  if (kind === 'word') {
    const words = oneOf(known.words[name as 'lang'], '')
    return weighted([5, words.chain(inAnyCase)], [1, anyLetters]).map(encoded)
  }
  if (kind === 'score')
    return weighted([5, fc.integer({ min: 0, max: 12 }).map((tens) => tens * 5)], [1, fc.nat(200)]).map(String)
  if (kind === 'rubrique') return oneOf(known.rubriques, 1).map(String)
  if (kind === 'periode') return oneOf(known.periodes, '2026-01')
  if (kind === 'auteur') return id(known.ids.auteurs)
  if (kind === 'limite')
    return weighted([4, fc.integer({ min: 1, max: 12 })], [2, fc.constantFrom(1, 99, 100, 499, 500)]).map(String)
  const edges = [0, 1, 99, 100, known.ids.auteurs.length - 1, known.ids.auteurs.length, Number.MAX_SAFE_INTEGER]
  return weighted([4, fc.nat(60)], [2, fc.nat(known.ids.auteurs.length)], [2, fc.constantFrom(...edges)]).map(String)
}

function listOfIds(name: string, known: Known): fc.Arbitrary<string[]> {
  const value = weighted([30, id(known.ids.auteurs)], [1, badNumber])
  const pair = fc.record({ form: fc.constantFrom('', '[]', '%5B%5D', '[0]', '[7]', '[00]', '[x]'), value })
  const many = fc
    .constantFrom(60, 99, 100, 101)
    .map((count) => Array.from({ length: count }, (_, i) => `${name}[]=${i + 1}`))
  const listed = fc
    .constantFrom(2, 100, 101, 500, 501)
    .map((count) => [`${name}=${Array.from({ length: count }, (_, i) => i + 1)}`])
  const few = fc.array(pair, { minLength: 1, maxLength: 4, size: 'max' })
  return weighted(
    [14, few.map((pairs) => pairs.map(({ form, value }) => `${name}${form}=${value}`))],
    [1, many],
    [2, listed],
  )
}

/** Parts of existing texts, changed in ways that search folds, and random letters. */
function needle(texts: readonly string[]): fc.Arbitrary<string> {
  const piece = fc
    .record({ text: oneOf(texts, 'a'), from: fc.nat(6), length: fc.constantFrom(1, 1, 2, 2, 3, 3, 4, 6, 12) })
    .map(({ text, from, length }) => [...text].slice(from, from + length).join(''))
  return weighted(
    [5, piece.chain(inAnyCase)],
    [2, anyLetters],
    [1, fc.constantFrom('', ' ', '\u0301', '\u0301\u0300', '%', '_')],
  )
}

function inAnyCase(text: string): fc.Arbitrary<string> {
  const forms = [
    text,
    text,
    text.toUpperCase(),
    text.toLowerCase(),
    text.normalize('NFD'),
    text.normalize('NFKC'),
    `${text}\u0301`,
  ]
  return fc.constantFrom(...forms)
}

/** Letters that search folds, drops or expands, or that are special in SQL, an index or JSON. */
const anyLetters = fc
  .array(
    fc.constantFrom(
      ...'aàÁeéÈİıNœŒßΣσςﬁ%_"\'\\*^&<>- ()日本語😀𝒜½Å',
      'e\u0301',
      '\u0300',
      '\u007f',
      '\u0001',
      '\ufffd',
    ),
    {
      minLength: 1,
      maxLength: 5,
      size: 'max',
    },
  )
  .map((letters) => letters.join(''))

function id(ids: readonly number[]): fc.Arbitrary<string> {
  const edges = [1, Number.MAX_SAFE_INTEGER, 4_294_967_296, 2_147_483_648]
  return weighted([12, oneOf(ids, 1)], [1, fc.constantFrom(...edges)], [1, fc.integer({ min: 1, max: 9_000 })]).map(
    String,
  )
}

const badNumber = fc.constantFrom(
  ...[
    '',
    '0',
    '-1',
    '-0',
    '+1',
    '01',
    '00',
    '1.0',
    '1e3',
    '%201',
    '1%20',
    '1+',
    '0x10',
    '%D9%A1',
    '%EF%BC%91',
    'NaN',
    'null',
  ],
  ...[
    '9007199254740992',
    '9223372036854775808',
    '99999999999999999999999',
    '1'.repeat(300),
    '%00',
    '1%00',
    "1'--",
    '1,2',
  ],
  ...['501', 'x', '%FF', '1;2', '%', '%zz', 'undefined', 'true'],
)

const badText = fc.constantFrom(
  ...[
    '',
    '%00',
    'a%00b',
    '%FF',
    '%C3',
    '%C3%28',
    '%ED%A0%80',
    '%ED%A0%BD%ED%B8%80',
    '%F4%90%80%80',
    '%E2%82',
    '%',
    'a%zzb',
  ],
  ...[
    '%u0041',
    'a'.repeat(99),
    'a'.repeat(100),
    'a'.repeat(101),
    '%F0%9F%98%80'.repeat(100),
    '%F0%9F%98%80'.repeat(101),
  ],
  ...[
    '%EF%AC%81'.repeat(100),
    '%EF%B7%BA'.repeat(100),
    'a+b',
    'a;b',
    'a=b',
    '=',
    '%EF%BB%BFa',
    '%C2%A0',
    '%E2%80%8B',
    'a%0Ab',
  ],
)

const strayParameter: fc.Arbitrary<string[]> = fc
  .constantFrom(
    ...[
      'x=1',
      'x',
      '=',
      '',
      '&',
      '%FF=1',
      '%00=1',
      'LIMITE=0',
      'limite%00=0',
      'Nom=a',
      'nom[]=a',
      'limite[]=0',
      'debut=5',
    ],
    ...['__proto__=1', 'constructor=1', '__proto__[limite]=0', 'api_key=x', 'password=x', "'=1", '%zz=1', 'jsonp=x'],
  )
  .map((pair) => [pair])

/** Encoded for a query; a space in either form. */
function encoded(text: string): string {
  const value = encodeURIComponent(text)
  return text.length % 2 === 0 ? value.replaceAll('%20', '+') : value
}

function oneOf<T>(values: readonly T[], otherwise: T): fc.Arbitrary<T> {
  return values.length === 0 ? fc.constant(otherwise) : fc.constantFrom(...values)
}

function weighted<T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}
