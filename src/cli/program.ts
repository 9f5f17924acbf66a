import { Command, CommanderError } from 'commander'
import { EnvironmentError, FileError, VERSION } from '../config.js'
import { Problem } from '../errors.js'
import { SecretArgumentError } from '../forms.js'
import { MirrorError } from '../mirror/errors.js'
import { ImportError } from '../portal/import.js'
import { StoreError } from '../store/store.js'
import { accountsCommand } from './accounts.js'
import { backupCommand } from './backup.js'
import { checkCommand } from './check.js'
import { demoCommand } from './demo.js'
import { exportCommand } from './export.js'
import { importCommand } from './import.js'
import { ingestCommand } from './ingest.js'
import { keysCommand } from './keys.js'
import { migrateCommand } from './migrate.js'
import { mirrorCommand } from './mirror.js'
import { CommandError, tell } from './output.js'
import { serveCommand } from './serve.js'

/** Runs a command line and says its exit status: 0 done, 1 failed, 2 wrong usage. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const program = makeProgram()
    await program.parseAsync(argv as string[])
    return 0
  } catch (error) {
    return statusOf(error)
  }
}

/** Every command with its options; docs/CONFIGURATION.md lists them and a test compares. */
export function makeProgram(): Command {
  const program = new Command('palmares')
    .description('The server for the public data of a security-challenge portal.')
    .version(VERSION)
    .addHelpText('after', EXAMPLES)
  for (const each of [
    serveCommand(),
    importCommand(),
    ingestCommand(),
    exportCommand(),
    mirrorCommand(),
    demoCommand(),
    accountsCommand(),
    keysCommand(),
    migrateCommand(),
    checkCommand(),
    backupCommand(),
  ]) {
    program.addCommand(each)
  }
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
  palmares mirror https://portail.example/ --every 10m   keep a copy of another portal
Every option may come from the environment: --port is PALMARES_PORT.`

function fullName(each: Command): string {
  return each.parent ? `${fullName(each.parent)} ${each.name()}` : each.name()
}

function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof SecretArgumentError) {
    tell(`error: ${error.message}`)
    return error.status
  }
  if (error instanceof EnvironmentError) {
    tell(`error: ${error.message}`)
    return 2
  }
  if (error instanceof ImportError) {
    const { count } = error.faults
    tell(`error: the ${error.what} has ${count} fault${count === 1 ? '' : 's'}, nothing was imported\n${error.message}`)
  } else if (isForOperator(error)) {
    tell(`error: ${error.message}`)
  } else if (isFileError(error)) {
    tell(`error: ${error.path}: ${FILE_ERRORS[error.code as string] ?? error.message}`)
  } else {
    tell(
      `error: something failed inside palmares; please report it\n${error instanceof Error ? error.stack : String(error)}`,
    )
  }
  return 1
}

/** Its message is one line that says what is wrong and what to do. */
function isForOperator(error: unknown): error is Error {
  return [CommandError, FileError, MirrorError, StoreError, Problem].some((kind) => error instanceof kind)
}

function isFileError(error: unknown): error is NodeJS.ErrnoException & { path: string } {
  return error instanceof Error && 'syscall' in error && typeof (error as NodeJS.ErrnoException).path === 'string'
}

const FILE_ERRORS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not use the file',
  EISDIR: 'this is a folder, not a file',
}
