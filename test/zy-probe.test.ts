import { test } from 'vitest'
import { importInto, makeStore } from './harness.js'
import { runSql } from './servers/postgres.js'
test('x', async () => {
  const { store, url } = await makeStore('postgres')
  const cle = { id: 1, nom: 'key', prefixe: 'palm_abcdef', empreinte: '1'.padStart(64, '0'), portee: ['lecture'], creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' }
  const compte = { type: 'compte', login: 'alice', id_auteur: 1, mot_de_passe: '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0', operateur: false, desactive: false, creation: '2025-01-01T00:00:00Z', cles: [cle] }
  const lines = [{ type: 'auteur', id_auteur: 1, nom: 'a' }, ...Array(100_000).fill(compte)]
  let done = false
  const p = importInto(store, lines, { withAccounts: true }).then(() => (done = true), console.log)
  let last = ''
  for (let i = 0; i < 60 && !done; i++) {
    await new Promise((r) => setTimeout(r, 500))
    const rows: any = await runSql(url, "select query, state, now() - query_start as t from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and datname = current_database()")
    const s = rows.map((r: any) => r.query).join('|'); if (s !== last) console.log(i, s); last = s
  }
}, 100000)
