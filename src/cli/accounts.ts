import { Command } from 'commander'
import {
  type CompteRow,
  findCompte,
  insertCompte,
  listComptes,
  removeCompte,
  revokeAll,
  setDisabled,
  setPassword,
} from '../auth/comptes-queries.js'
import { MAX_LOGIN_CODE_POINTS } from '../auth/contract.js'
import { lockOperators } from '../auth/operators.js'
import { hashPassword, passwordFault } from '../auth/passwords.js'
import { CommandError, integer } from '../forms.js'
import { formatInstant, nowSeconds } from '../instant.js'
import { database, json, type OptionsOf, removeOperators } from '../options.js'
import type { Change, Db, Store } from '../store/store.js'
import { countCodePoints } from '../text.js'
import { command, readStandardInput, withStore } from './command.js'
import { print, printJson, printTable } from './output.js'

const passwordStdin = { description: 'read the password from standard input' }
const ADD_OPTIONS = {
  database,
  idAuteur: {
    value: '<id>',
    description: 'the author whose account it is',
    parse: integer(1, Number.MAX_SAFE_INTEGER),
  },
  passwordStdin,
  operator: { description: 'mark the account as an operator' },
}
const LIST_OPTIONS = { database, json }
const PASSWD_OPTIONS = { database, passwordStdin }
const END_OPTIONS = { database, removeOperators }

export function accountsCommand(): Command {
  return new Command('accounts')
    .description('Manage the accounts that may sign in.')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(passwdCommand())
    .addCommand(endCommand('disable', 'Disable an account; its sessions and keys end at once.', disable))
    .addCommand(
      endCommand('remove', 'Remove an account with its sessions and keys, at once; its author stays.', removeCompte),
    )
    .addCommand(enableCommand())
}

function addCommand(): Command {
  return command('add', 'Add an account for an author. Creates the store if needed, and migrates it.', ADD_OPTIONS)
    .argument('<login>')
    .action(async (login: string, options: OptionsOf<typeof ADD_OPTIONS>, self: Command) => {
      const { idAuteur, operator } = options
      if (idAuteur === undefined) self.error("error: required option '--id-auteur <id>' not specified")
      checkPasswordStdin(options, self)
      checkLogin(login)
      const mot_de_passe = await readPassword()
      const compte = { login, id_auteur: idAuteur, mot_de_passe, operateur: operator ? 1 : 0, desactive: 0 }
      await withStore(options.database, { create: true }, (store) =>
        store.write({}, (db) => addCompte(db, { ...compte, creation: nowSeconds() })),
      )
      print(`account ${login} added for author ${idAuteur}`)
    })
}

async function addCompte(db: Db, compte: Omit<CompteRow, 'id_compte'>): Promise<void> {
  const { login, id_auteur } = compte
  if (await findCompte(db, login)) throw new CommandError(`the account ${login} already exists`)
  const auteur = await db.get(db.q.selectFrom('auteurs').select('id_auteur').where('id_auteur', '=', id_auteur))
  if (!auteur) throw new CommandError(`there is no author ${id_auteur}; import the portal first`)
  await insertCompte(db, compte)
}

function listCommand(): Command {
  return command('list', 'List the accounts.', LIST_OPTIONS).action(async (options: OptionsOf<typeof LIST_OPTIONS>) => {
    const rows = await withStore(options.database, { create: false }, (store) => store.read(listComptes))
    const comptes = rows.map(presentCompte)
    const yes = (flag: boolean) => (flag ? 'yes' : '')
    if (options.json) printJson(comptes)
    else {
      printTable(
        ['login', 'author', 'operator', 'disabled', 'created'],
        comptes.map((compte) => [
          compte.login,
          compte.id_auteur,
          yes(compte.operateur),
          yes(compte.desactive),
          compte.creation,
        ]),
      )
    }
  })
}

function presentCompte(row: CompteRow) {
  return {
    login: row.login,
    id_auteur: row.id_auteur,
    operateur: row.operateur === 1,
    desactive: row.desactive === 1,
    creation: formatInstant(row.creation),
  }
}

function passwdCommand(): Command {
  return command('passwd', 'Change a password; the sessions and keys of the account end at once.', PASSWD_OPTIONS)
    .argument('<login>')
    .action(async (login: string, options: OptionsOf<typeof PASSWD_OPTIONS>, self: Command) => {
      checkPasswordStdin(options, self)
      await withStore(options.database, { create: false }, async (store) => {
        const motDePasse = await readPassword()
        await changeCompte(store, login, async (db, compte) => {
          await setPassword(db, compte.id_compte, motDePasse)
          return revokeAll(db, compte.id_compte, nowSeconds())
        })
      })
      print(`password of ${login} changed`)
    })
}

/** A command that ends an account, or its use; `end` gives the credentials that ended. */
function endCommand(
  name: 'disable' | 'remove',
  purpose: string,
  end: (db: Db, idCompte: number, now: number) => Promise<string[]>,
): Command {
  return command(name, purpose, END_OPTIONS)
    .argument('<login>')
    .action(async (login: string, options: OptionsOf<typeof END_OPTIONS>) => {
      await withStore(options.database, { create: false }, (store) =>
        changeCompte(store, login, async (db, { id_compte }) => {
          if (!options.removeOperators) await refuseLastOperator(db, login)
          return end(db, id_compte, nowSeconds())
        }),
      )
      print(`account ${login} ${name}d`)
    })
}

async function disable(db: Db, idCompte: number, now: number): Promise<string[]> {
  await setDisabled(db, idCompte, true)
  return revokeAll(db, idCompte, now)
}

function enableCommand(): Command {
  return command('enable', 'Enable an account again; its user signs in again.', { database })
    .argument('<login>')
    .action(async (login: string, options: { database: string }) => {
      await withStore(options.database, { create: false }, (store) =>
        changeCompte(store, login, async (db, compte) => {
          await setDisabled(db, compte.id_compte, false)
          // Its credentials ended when it was disabled, but those imported since may be cached as disabled.
          return compte.desactive === 1
        }),
      )
      print(`account ${login} enabled`)
    })
}

async function refuseLastOperator(db: Db, login: string): Promise<void> {
  const operators = await lockOperators(db)
  if (operators.length === 1 && operators[0] === login) {
    throw new CommandError(`${login} is the last enabled operator; add another one first, or give --remove-operators`)
  }
}

/** Changes an account; `apply` says which credentials that ended. */
async function changeCompte(
  store: Store,
  login: string,
  apply: (db: Db, compte: CompteRow) => Promise<boolean | readonly string[]>,
): Promise<void> {
  const change: Change = {}
  await store.write(change, async (db) => {
    const compte = await findCompte(db, login)
    if (!compte) throw new CommandError(`there is no account ${login}`)
    change.comptes = await apply(db, compte)
  })
}

/** Before a store is opened, which may make one. */
function checkPasswordStdin({ passwordStdin: given }: OptionsOf<typeof PASSWD_OPTIONS>, self: Command): void {
  if (!given) self.error('error: give the password on standard input, with --password-stdin')
}

async function readPassword(): Promise<string> {
  const password = await readStandardInput()
  const fault = passwordFault(password)
  if (fault) throw new CommandError(fault)
  return hashPassword(password)
}

function checkLogin(login: string): void {
  if (
    login.trim() !== login ||
    login === '' ||
    /[\x00-\x1f\x7f]/.test(login) ||
    countCodePoints(login) > MAX_LOGIN_CODE_POINTS
  ) {
    throw new CommandError(
      `a login has 1 to ${MAX_LOGIN_CODE_POINTS} characters, no space at its ends and no control character`,
    )
  }
}
