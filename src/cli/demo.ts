import { hostname } from 'node:os'
import type { Command } from 'commander'
import { hashPassword } from '../auth/passwords.js'
import { digest, makeApiKey, makeSessionToken, shownPrefix } from '../auth/tokens.js'
import { type ServeOptions, toAppSettings, toServing } from '../config.js'
import { formatInstant, nowSeconds } from '../instant.js'
import { demoPortal } from '../portal/demo.js'
import { importDump } from '../portal/import.js'
import { database, port, serveSettings } from '../settings.js'
import { openStore, showDatabaseUrl } from '../store/open.js'
import type { Store } from '../store/store.js'
import { command } from './command.js'
import { print, startProgress } from './output.js'

const LOGIN = 'demo'
/** About as many as the demo portal has, for the progress bar alone. */
const DEMO_LINES = 35_000
const KEY_SECONDS = 365 * 24 * 3600

export function demoCommand(): Command {
  const demoDatabase = { ...database, default: 'sqlite:data/demo.db' }
  const demoLevel = { ...serveSettings.logLevel, default: 'warn' }
  const settings = [demoDatabase, port, ...Object.values({ ...serveSettings, logLevel: demoLevel })]
  return command('demo', 'Serve a portal of our own making, on this machine alone.', settings).action(
    async (given: ServeOptions) => {
      const options = { ...given, host: '127.0.0.1', metricsPort: 0 }
      const appSettings = toAppSettings(options)
      const { makeLog } = await import('./serving.js')
      const log = makeLog(options.logLevel)
      const store = await openStore(options.database, { create: true, serving: toServing(options, log) })
      try {
        const account = await fillOnce(store)
        // Shown before anything else can fail: nobody can show it again.
        if (account) print(presentAccount(account))
        const { listen } = await import('./listen.js')
        const { address, stopped } = await listen(store, appSettings, options, log)
        print(account ? welcome(address, account) : welcomeBack(address, options.database))
        await stopped
      } finally {
        await store.close()
      }
    },
  )
}

interface DemoAccount {
  password: string
  key: string
}

/** Fills an empty store, account and key included, in one import; a store that holds anything is kept as it is. */
async function fillOnce(store: Store): Promise<DemoAccount | undefined> {
  const isEmpty = await store.read(
    async (db) => !(await db.get(db.q.selectFrom('auteurs').select('id_auteur').limit(1))),
  )
  if (!isEmpty) return undefined
  const account = { password: makeSessionToken().slice(0, 20), key: makeApiKey() }
  const progress = startProgress('lines')
  try {
    const bytes = demoBytes(await accountLine(account))
    await importDump(store, bytes, {
      replace: false,
      withAccounts: true,
      onProgress: (step, lines) =>
        progress.update('making the demo portal', lines, step === 'read' ? lines / DEMO_LINES : 1),
    })
  } finally {
    progress.stop()
  }
  return account
}

async function* demoBytes(account: object): AsyncGenerator<Uint8Array> {
  for (const line of demoPortal()) yield Buffer.from(`${JSON.stringify(line)}\n`)
  yield Buffer.from(`${JSON.stringify(account)}\n`)
}

async function accountLine({ password, key }: DemoAccount): Promise<object> {
  const now = nowSeconds()
  return {
    type: 'compte',
    login: LOGIN,
    id_auteur: 1,
    mot_de_passe: await hashPassword(password),
    // So that the page has all of itself to show; it is on this machine alone.
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
The demo portal is made. Its account, shown this once:

  login     ${LOGIN}
  password  ${password}
  API key   ${key}`
}

function welcome(address: string, { key }: DemoAccount): string {
  return `
Palmarès serves it on ${address}/ : open that in a browser and sign in, or try

  curl -b 'api_key=${key}' '${address}/classement?debut_classement=2450&limite=60'
  curl -b 'api_key=${key}' '${address}/challenges?titre=mot'
  curl -H 'Authorization: Bearer ${key}' '${address}/auteurs/1'

The API is described at ${address}/docs. Ctrl-C stops it; the next start keeps everything.`
}

function welcomeBack(address: string, url: string): string {
  return `
Palmarès serves its demo portal on ${address}/ , as it was left.

For a new key${showDatabaseUrl(url) === url ? '' : ', with the password in its place'}:

  node dist/main.js keys create ${LOGIN} --database ${showDatabaseUrl(url)} --quiet

The API is described at ${address}/docs. Ctrl-C stops it.`
}
