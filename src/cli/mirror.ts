import { Argument, type Command } from 'commander'
import { readMirrorKey, VERSION } from '../config.js'
import { CommandError, decimal, duration, httpUrl, idList, integer, SecretArgumentError } from '../forms.js'
import { realClock } from '../mirror/clock.js'
import type { MirrorOptions } from '../mirror/context.js'
import { dialectOf, PROBE_PATH } from '../mirror/detect.js'
import { MirrorError } from '../mirror/errors.js'
import { passAfterPass } from '../mirror/every.js'
import { DEFAULT_EXCHANGE_LIMITS } from '../mirror/exchange.js'
import { mirrorPass, type PassReport } from '../mirror/pass.js'
import { claim } from '../mirror/state.js'
import { makeTransport } from '../mirror/transport.js'
import { database, type OptionsOf, SERVE_OPTIONS } from '../options.js'
import { isMissing } from '../store/open.js'
import type { Store } from '../store/store.js'
import { command, withStore } from './command.js'
import { printTallies } from './import.js'
import { print, tell } from './output.js'
import { startProgress, timeOf } from './progress.js'

const OPTIONS = {
  database,
  portalUrl: SERVE_OPTIONS.portalUrl,
  keyFile: { value: '<file>', description: 'a file with the key for the portal, instead of PALMARES_MIRROR_KEY' },
  every: {
    value: '<time>',
    description: 'repeat at this interval, such as 10m; default: one pass',
    parse: duration(10, 7 * 86_400),
  },
  authors: {
    value: '<ids>',
    description: 'copy only these authors, comma-separated',
    parse: idList(10_000),
  },
  requestsPerSecond: {
    value: '<number>',
    description: "maximum requests per second; the portal's own limits apply too",
    default: 5,
    parse: decimal(0.01, 1_000),
  },
  connections: {
    value: '<number>',
    description: 'concurrent connections to the portal',
    default: 1,
    parse: integer(1, 8),
  },
  allowHttp: { description: 'send the key unencrypted over http:// to another machine' },
}

type MirrorCommandOptions = OptionsOf<typeof OPTIONS>

export function mirrorCommand(): Command {
  return command('mirror', 'Keep a copy of another portal. Creates the store if needed, and migrates it.', OPTIONS)
    .addArgument(
      new Argument('<url>', 'the address of its API, such as https://portail.example/').argParser(portalAddress),
    )
    .addHelpText('after', HELP)
    .action(async (base: string, options: MirrorCommandOptions) => {
      refuseOpenWire(base, options.allowHttp === true)
      const { key, isExposed } = readMirrorKey(options.keyFile)
      if (isExposed) tell(`warning: other users can read ${options.keyFile}; run chmod 600 ${options.keyFile}`)
      const portal = await connect(base, key, options)
      try {
        // `--every` waits for a portal that does not answer yet. A single pass must not leave a new, empty store behind.
        if (options.every === undefined && (await isMissing(options.database))) await findPortal(portal)
        await withStore(options.database, { create: true }, async (store) => {
          // Each pass claims the store again. Here a store that is not a copy of this portal ends the command, also with --every.
          await claim(store, `${base}/`)
          await mirror(store, portal, options)
        })
      } finally {
        portal.transport.close()
      }
    })
}

const HELP = `
The key goes into PALMARES_MIRROR_KEY or the file of --key-file, never onto the command line, which others can read.
What changed in a pass is on standard output. The next run continues an interrupted pass.`

/** An address without a slash at its end. Errors never repeat it, because it may contain a password. */
function portalAddress(text: string): string {
  try {
    return httpUrl(text).replace(/\/+$/, '')
  } catch {
    throw new SecretArgumentError('URL takes an address such as https://portail.example/, without a user or a query', 2)
  }
}

function refuseOpenWire(base: string, isAllowed: boolean): void {
  const { protocol, hostname } = new URL(base)
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || isHere || isAllowed) return
  throw new CommandError(
    'over http:// anyone on the network path can read the key; use https://, or --allow-http on a trusted network',
    2,
  )
}

type Portal = Pick<MirrorOptions, 'transport' | 'clock' | 'signal' | 'onWarning'>

async function connect(base: string, key: string, options: MirrorCommandOptions): Promise<Portal> {
  const { requestsPerSecond, connections } = options
  const { nextSignal } = await import('./serving.js')
  const stop = new AbortController()
  void nextSignal().then(() => stop.abort())
  const clock = realClock
  const { signal } = stop
  const userAgent = `palmares/${VERSION}`
  const limits = DEFAULT_EXCHANGE_LIMITS
  const onWarning = (message: string) => tell(`warning: ${message}`)
  const transport = makeTransport({
    ...{ base, key, userAgent, requestsPerSecond, connections, clock, signal, limits },
    onRetry: onWarning,
  })
  return { transport, clock, signal, onWarning }
}

/** Throws `MirrorError` unless a portal answers. A stop is left to the pass, which reports it. */
async function findPortal({ transport, signal }: Portal): Promise<void> {
  try {
    dialectOf(await transport.get(PROBE_PATH))
  } catch (error) {
    if (error !== signal.reason) throw error
  }
}

/** Runs one pass, or repeats it. A signal ends the pass after the current batch. */
async function mirror(store: Store, portal: Portal, options: MirrorCommandOptions): Promise<void> {
  const { portalUrl, authors, connections, every } = options
  const given = { ...portal, store, portalUrl, authors, connections }
  if (every === undefined) await onePass(given)
  else await passAfterPass({ every, ...portal, tell }, () => onePass(given))
}

type Given = Omit<MirrorOptions, 'onProgress'>

async function onePass(given: Given): Promise<void> {
  const progress = startProgress()
  const report = await mirrorPass({
    ...given,
    onProgress: (stage, done, expected, part, secondsLeft) =>
      progress.update({ stage, part, count: countOf(done, expected), rest: restOf(secondsLeft) }),
  }).finally(progress.stop)
  printReport(report)
  const { faults, isStopped } = report
  if (faults > 0 && !isStopped) {
    throw new MirrorError(`${recordsOf(faults)} could not be read, see above; the next pass tries again`)
  }
}

function restOf(secondsLeft: number | undefined): string | undefined {
  return secondsLeft === undefined ? undefined : `about ${timeOf(secondsLeft)} left`
}

/** Without a record there is nothing to count. */
function countOf(done: number, of: number | undefined): string | undefined {
  if (of !== undefined) return `${done} of ${of} records`
  return done === 0 ? undefined : recordsOf(done)
}

function recordsOf(records: number): string {
  return `${records} record${records === 1 ? '' : 's'}`
}

function printReport({ tallies, requests, isResumed, isStopped, faults }: PassReport): void {
  const done = faults === 0 ? 'Copy updated' : `Copy updated except for ${recordsOf(faults)}`
  const what = isStopped ? 'Stopped; the next run continues' : done
  const seconds = Math.round(requests.waitedMilliseconds / 1_000)
  const waited = seconds === 0 ? 'no rate-limit wait' : `${seconds} s of rate-limit wait`
  print(
    `${what}${isResumed ? ' (continued an interrupted run)' : ''}: ${requests.requests} requests, ${requests.unchanged} unchanged, ${waited}${tallies.length === 0 ? ', no changes' : ''}`,
  )
  printTallies(tallies)
}
