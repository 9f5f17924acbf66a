import { Command, CommanderError } from 'commander'
import { VERSION } from '../config.js'
import { Problem } from '../errors.js'
import { CommandError } from '../forms.js'
import { MirrorError } from '../mirror/errors.js'
import { ImportError } from '../portal/import.js'
import { StoreError } from '../store/store.js'
import { tell } from './output.js'

/** Every command, brought with its code when it is asked for. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.js')).serveCommand(),
  import: async () => (await import('./import.js')).importCommand(),
  ingest: async () => (await import('./ingest.js')).ingestCommand(),
  export: async () => (await import('./export.js')).exportCommand(),
  mirror: async () => (await import('./mirror.js')).mirrorCommand(),
  demo: async () => (await import('./demo.js')).demoCommand(),
  accounts: async () => (await import('./accounts.js')).accountsCommand(),
  keys: async () => (await import('./keys.js')).keysCommand(),
  migrate: async () => (await import('./migrate.js')).migrateCommand(),
  settings: async () => (await import('./settings.js')).settingsCommand(),
  check: async () => (await import('./check.js')).checkCommand(),
  backup: async () => (await import('./backup.js')).backupCommand(),
}

/** Runs a command line and says its exit status: 0 done, 1 failed, 2 wrong usage. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const program = await makeProgram(argv[2])
    await program.parseAsync(argv as string[])
    return 0
  } catch (error) {
    return statusOf(error)
  }
}

/** One command by its name, or all if the name is unknown. docs/CONFIGURATION.md lists them, and a test compares. */
export async function makeProgram(name = ''): Promise<Command> {
  const program = new Command('palmares')
    .description('The server for the public data of a security-challenge portal.')
    .version(VERSION)
    .addHelpText('after', EXAMPLES)
  const wanted = Object.hasOwn(COMMANDS, name) ? [name] : Object.keys(COMMANDS)
  for (const each of wanted) program.addCommand(await (COMMANDS[each] as () => Promise<Command>)())
  for (const each of [program, ...program.commands, ...program.commands.flatMap((parent) => parent.commands)]) {
    each.exitOverride().showHelpAfterError(`Try \`${fullName(each)} --help\`.`)
  }
  return program
}

const EXAMPLES = `
Examples:
  palmares demo                                      a portal to try, with an account and a key
  palmares import portail.ndjson                     fill the store from a dump
  palmares import --format ctfd export.zip           fill it from an export of CTFd
  tail -n 0 -F solves.ndjson | palmares ingest -     apply solves as they come
  palmares accounts add alice --id-auteur 1 --password-stdin < password.txt
  palmares keys create alice --name "mon bot"        prints the key, once
  palmares serve --portal-url https://portail.example/
  palmares mirror https://portail.example/           keep a copy of another portal
Every option may come from the environment: --port is PALMARES_PORT.`

function fullName(each: Command): string {
  return each.parent ? `${fullName(each.parent)} ${each.name()}` : each.name()
}

function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  tell(`error: ${messageOf(error)}`)
  return error instanceof CommandError ? error.status : 1
}

function messageOf(error: unknown): string {
  if (error instanceof ImportError) {
    const { count } = error.faults
    return `the ${error.what} has ${count} fault${count === 1 ? '' : 's'}, nothing was imported\n${error.message}`
  }
  if (isForOperator(error)) return error.message
  if (isFileError(error)) return `${error.path}: ${FILE_ERRORS[error.code as string] ?? error.message}`
  return `something failed inside palmares; please report it\n${error instanceof Error ? error.stack : String(error)}`
}

/** Its message is one line that says what is wrong and what to do. */
function isForOperator(error: unknown): error is Error {
  return [CommandError, MirrorError, StoreError, Problem].some((kind) => error instanceof kind)
}

function isFileError(error: unknown): error is NodeJS.ErrnoException & { path: string } {
  return error instanceof Error && 'syscall' in error && typeof (error as NodeJS.ErrnoException).path === 'string'
}

const FILE_ERRORS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not use the file',
  EISDIR: 'this is a folder, not a file',
}
