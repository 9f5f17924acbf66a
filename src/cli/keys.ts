import { Command, InvalidArgumentError } from 'commander'
import { createKey, isKeyName, isScope } from '../auth/cles.js'
import { listCles, revokeCle } from '../auth/cles-queries.js'
import { findCompte } from '../auth/comptes-queries.js'
import { MAX_KEY_NAME_CODE_POINTS, presentApiKey } from '../auth/contract.js'
import { endCredentials } from '../auth/ending.js'
import { CommandError } from '../forms.js'
import { formatInstant, nowSeconds, parseInstant } from '../instant.js'
import { SCOPES, type Scope } from '../model/scopes.js'
import { database, json, type OptionsOf } from '../options.js'
import { command, withStore } from './command.js'
import { print, printJson, printTable, tell } from './output.js'

export function keysCommand(): Command {
  return new Command('keys')
    .description('Manage API keys.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
}

const CREATE_OPTIONS = {
  database,
  name: { value: '<text>', description: 'what the key is for', default: 'command line', parse: readName },
  expires: {
    value: '<instant>',
    description: 'expiry date, such as 2030-01-31 or 2030-01-31T12:00:00Z; default: in one year',
    parse: readExpiry,
  },
  scope: {
    value: '<list>',
    description: `what it may do besides reading, comma-separated: ${SCOPES.slice(1).join(', ')}; for operators`,
    default: [],
    parse: readScopes,
  },
  quiet: { description: 'print only the key' },
}
const LIST_OPTIONS = { database, json }

function createCommand(): Command {
  return command('create', 'Create an API key for an account and print it, once.', CREATE_OPTIONS)
    .argument('<login>')
    .action(async (login: string, options: OptionsOf<typeof CREATE_OPTIONS>) => {
      const { database: url, name, expires, scope, quiet } = options
      const { key, row } = await withStore(url, { create: false }, async (store) => {
        const compte = await store.read((db) => findCompte(db, login))
        if (!compte) throw new CommandError(`there is no account ${login}`)
        if (compte.desactive) throw new CommandError(`the account ${login} is disabled`)
        return createKey(store, compte.id_compte, { nom: name, expiration: expires, portee: scope })
      })
      print(key)
      if (!quiet)
        tell(
          `Created key ${row.id_cle} for ${login}, valid until ${formatInstant(row.expiration)}. It is not shown again.`,
        )
    })
}

function listCommand(): Command {
  return command('list', 'List the valid keys, of every account or of one.', LIST_OPTIONS)
    .argument('[login]')
    .action(async (login: string | undefined, options: OptionsOf<typeof LIST_OPTIONS>) => {
      const shown = await withStore(options.database, { create: false }, (store) =>
        store.read(async (db) => {
          const compte = login === undefined ? undefined : await findCompte(db, login)
          if (login !== undefined && !compte) throw new CommandError(`there is no account ${login}`)
          return listCles(db, nowSeconds(), compte?.id_compte)
        }),
      )
      if (options.json) printJson(shown.map((row) => ({ ...presentApiKey(row), login: row.login })))
      else {
        printTable(
          ['id', 'login', 'name', 'prefix', 'scopes', 'until', 'last used (hour)'],
          shown.map((row) => [
            row.id_cle,
            row.login,
            row.nom,
            row.prefixe,
            row.portee,
            formatInstant(row.expiration),
            row.derniere_utilisation === null ? 'never' : formatInstant(row.derniere_utilisation),
          ]),
        )
      }
    })
}

function revokeCommand(): Command {
  return command('revoke', 'Revoke a key; the next request with it is refused.', { database })
    .argument('<id>', 'the id that `keys list` shows', (text) => {
      if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It takes the id that `keys list` shows.')
      return Number(text)
    })
    .action(async (id: number, options: { database: string }) => {
      await withStore(options.database, { create: false }, async (store) => {
        const ended = await endCredentials(store, (db) => revokeCle(db, id, nowSeconds()))
        if (ended.length === 0) throw new CommandError(`there is no valid key ${id}`)
      })
      print(`key ${id} revoked`)
    })
}

function readName(text: string): string {
  if (!isKeyName(text))
    throw new InvalidArgumentError(`It takes a text of 1 to ${MAX_KEY_NAME_CODE_POINTS} characters.`)
  return text
}

function readExpiry(text: string): number {
  const instant = parseInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (instant === undefined || instant <= nowSeconds()) {
    throw new InvalidArgumentError('It takes a future date, such as 2030-01-31 or 2030-01-31T12:00:00Z.')
  }
  return instant
}

function readScopes(text: string): Scope[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  if (!scopes.every(isScope)) throw new InvalidArgumentError(`It takes ${SCOPES.join(', ')}, comma-separated.`)
  return scopes
}
