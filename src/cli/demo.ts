import { hostname } from 'node:os'
import { relative } from 'node:path'
import type { Command } from 'commander'
import { hashPassword } from '../auth/passwords.js'
import { digest, makeApiKey, makeSessionToken, shownPrefix } from '../auth/tokens.js'
import { toServerOptions, toServing } from '../config.js'
import { DAY_SECONDS, formatInstant, nowSeconds } from '../instant.js'
import { defaultsOf, HTTP_OPTIONS, type OptionsOf, SERVE_OPTIONS, type ServeOptions } from '../options.js'
import { type DemoLine, demoPortal } from '../portal/demo.js'
import { importDump } from '../portal/import.js'
import { showDatabaseUrl } from '../store/open.js'
import type { Store } from '../store/store.js'
import { command, withStore } from './command.js'
import { showImport } from './import-progress.js'
import { print, tell } from './output.js'
import { startProgress } from './progress.js'

const LOGIN = 'demo'
const HOST = '127.0.0.1'
const PORT_ADVICE = '--port (`npm start -- --port 8081`)'
/** About as many as the demo portal has, for the progress bar alone. */
const DEMO_LINES = 35_000
const KEY_SECONDS = 365 * DAY_SECONDS

const OPTIONS = {
  database: { ...SERVE_OPTIONS.database, default: 'sqlite:data/demo.db' },
  port: SERVE_OPTIONS.port,
  ...HTTP_OPTIONS,
  portalUrl: {
    ...HTTP_OPTIONS.portalUrl,
    description: `${HTTP_OPTIONS.portalUrl.description}; without it, this server's`,
    default: undefined,
  },
  logLevel: { ...HTTP_OPTIONS.logLevel, default: 'warn' },
}

export function demoCommand(): Command {
  return command('demo', 'Serve a generated demo portal, on this machine only.', OPTIONS).action(
    async (given: OptionsOf<typeof OPTIONS>) => {
      const { claimPort, makeLog } = await import('./serving.js')
      const options = toServerOptions(toServeOptions(given, await claimPort(HOST, given.port, PORT_ADVICE)))
      const log = makeLog(options.logLevel)
      await withStore(options.database, { create: true, serving: toServing(options, log) }, async (store) => {
        const account = await fillOnce(store, options.database)
        // Shown before anything else can fail, because it cannot be shown again.
        if (account) print(presentAccount(account))
        const { listen } = await import('./listen.js')
        const { address, stopped } = await listen(store, options, log)
        print(account ? welcome(address, account) : welcomeBack(address, options.database))
        await stopped
      })
    },
  )
}

/** Its challenges have their pages on the server itself, whose address only the command knows. */
function toServeOptions(given: OptionsOf<typeof OPTIONS>, port: number): ServeOptions {
  const own = `${given.tlsCert ? 'https' : 'http'}://${HOST}:${port}/`
  const portalUrl = given.portalUrl ?? given.publicUrl ?? own
  return { ...defaultsOf(SERVE_OPTIONS), ...given, host: HOST, port, metricsPort: 0, portalUrl }
}

interface DemoAccount {
  password: string
  key: string
}

/** Fills an empty store, account and key included, in one import; other stores are not changed. */
async function fillOnce(store: Store, url: string): Promise<DemoAccount | undefined> {
  const isEmpty = await store.read(
    async (db) => !(await db.get(db.q.selectFrom('auteurs').select('id_auteur').limit(1))),
  )
  if (!isEmpty) return undefined
  tell(`Creating the demo portal in ${showDatabaseUrl(url)} (first start only)…`)
  const account = { password: makeSessionToken().slice(0, 20), key: makeApiKey() }
  const bytes = demoBytes(await accountLine(account))
  const progress = startProgress()
  const onProgress = showImport(progress, (lines) => lines / DEMO_LINES)
  await importDump(store, bytes, { replace: false, withAccounts: true, onProgress }).finally(progress.stop)
  return account
}

async function* demoBytes(account: object): AsyncGenerator<Uint8Array> {
  for (const line of demoPortal()) yield Buffer.from(`${JSON.stringify(withOwnPage(line))}\n`)
  yield Buffer.from(`${JSON.stringify(account)}\n`)
}

/** There is no other portal to show a challenge, so its link leads to its page here. */
function withOwnPage(line: DemoLine): DemoLine {
  return line.type === 'challenge' ? { ...line, url_challenge: `p/challenges/${line.id_challenge}` } : line
}

async function accountLine({ password, key }: DemoAccount): Promise<object> {
  const now = nowSeconds()
  return {
    type: 'compte',
    login: LOGIN,
    id_auteur: 1,
    mot_de_passe: await hashPassword(password),
    // So that the page shows everything; it is only served on this machine.
    operateur: true,
    desactive: false,
    creation: formatInstant(now),
    cles: [
      {
        nom: `first key of ${hostname()}`,
        prefixe: shownPrefix(key),
        empreinte: digest(key),
        portee: ['lecture'],
        creation: formatInstant(now),
        expiration: formatInstant(now + KEY_SECONDS),
      },
    ],
  }
}

function presentAccount({ password, key }: DemoAccount): string {
  return `
The demo portal is ready. Its account is shown this once:

  login     ${LOGIN}
  password  ${password}
  API key   ${key}`
}

function welcome(address: string, { key }: DemoAccount): string {
  return `
Palmarès serves it on ${address}/ . Open that in a browser and sign in, or ask with the key:

  the top of the ranking
    curl -b 'api_key=${key}' '${address}/classement?limite=3'
  challenges by a word of their title
    curl -b 'api_key=${key}' '${address}/challenges?titre=mot&limite=3'
  one author
    curl -H 'Authorization: Bearer ${key}' '${address}/auteurs/1'

The API is described at ${address}/docs. Ctrl-C stops it; the next start keeps everything.`
}

function welcomeBack(address: string, url: string): string {
  const shown = showDatabaseUrl(url)
  const database = `--database ${quoted(shown)}`
  return `
Palmarès serves its demo portal on ${address}/ , as it was left: sign in as ${LOGIN} with the password of the first start.

Password lost? In another terminal, in this folder${shown === url ? '' : ", with the store's password in its place"}:

  a new password, which ends the sessions and keys of before
    p=$(node -p 'crypto.randomUUID()'); echo "$p" | ${program()} accounts passwd ${LOGIN} --password-stdin ${database} && echo "$p"
  a new key
    ${program()} keys create ${LOGIN} --quiet ${database}

The API is described at ${address}/docs. Ctrl-C stops it.`
}

/** How this very program is run again from this folder. */
function program(): string {
  return `node ${quoted(relative('', process.argv[1] as string))}`
}

/** A word for a shell. */
function quoted(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
