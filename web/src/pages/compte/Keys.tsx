import { useState } from 'preact/hooks'
import { asFailed, type Failed, portal } from '../../api.js'
import { useLanguage } from '../../i18n/language.js'
import { Dialog } from '../../parts/Dialog.js'
import { Empty, ErrorText } from '../../parts/States.js'
import { type Column, Table } from '../../parts/Table.js'
import { Hour, Time } from '../../parts/Time.js'
import type { ApiKey } from '../../wire.js'

/** The valid keys, each with a button to revoke it. */
export function Keys({ keys, onChange }: { keys: ApiKey[]; onChange(): void }) {
  const { words } = useLanguage()
  const [revoking, setRevoking] = useState<ApiKey>()
  const [status, setStatus] = useState('')
  const [error, setError] = useState<Failed>()

  const revoke = async (key: ApiKey) => {
    setRevoking(undefined)
    setError(undefined)
    try {
      await portal.delete('/cles_api/{id}', { path: { id: key.id } })
      setStatus(words.compte.revoked(key.nom))
      // The focused button no longer exists.
      document.getElementById('keys')?.focus()
      onChange()
    } catch (failed) {
      setError(asFailed(failed))
    }
  }

  return (
    <>
      <p class="count" role="status">
        {status}
      </p>
      <div role="alert">{error && <ErrorText error={error} />}</div>
      {keys.length === 0 ? (
        <Empty>
          <p>{words.compte.empty}</p>
        </Empty>
      ) : (
        <KeyTable keys={keys} onRevoke={setRevoking} />
      )}
      {revoking && (
        <Dialog title={words.compte.revokeAsk(revoking.nom)} onClose={() => setRevoking(undefined)}>
          <p>{words.compte.revokeText}</p>
          <div class="actions">
            <button type="button" onClick={() => setRevoking(undefined)}>
              {words.compte.cancel}
            </button>
            <button type="button" class="danger" onClick={() => void revoke(revoking)}>
              {words.compte.revoke}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function KeyTable({ keys, onRevoke }: { keys: ApiKey[]; onRevoke(key: ApiKey): void }) {
  const { words } = useLanguage()
  const used = ({ derniere_utilisation: at }: ApiKey) =>
    at === null ? <span class="faint">{words.states.never}</span> : <Hour instant={at} />
  const columns: Column<ApiKey>[] = [
    {
      head: words.compte.name,
      isName: true,
      cell: (key) => (
        <>
          {key.nom}
          <span class="sub narrow-only">
            {words.compte.expiresOn} <Time instant={key.expiration} />
          </span>
          <span class="sub narrow-only">
            {words.compte.lastUsed} : {used(key)}
          </span>
        </>
      ),
    },
    { head: words.compte.prefix, isWideOnly: true, cell: ({ prefixe }) => <code>{prefixe}…</code> },
    { head: words.compte.scopes, isWideOnly: true, cell: ({ portee }) => portee.join(', ') },
    { head: words.compte.createdOn, isWideOnly: true, cell: ({ creation }) => <Time instant={creation} /> },
    { head: words.compte.expiresOn, isWideOnly: true, cell: ({ expiration }) => <Time instant={expiration} /> },
    { head: words.compte.lastUsed, isWideOnly: true, cell: used },
    {
      head: words.compte.action,
      width: '6.75rem',
      cell: (key) => (
        <button
          type="button"
          class="quiet"
          aria-label={words.compte.revokeNamed(key.nom)}
          onClick={() => onRevoke(key)}
        >
          {words.compte.revoke}
        </button>
      ),
    },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable region
    <section class="scroller" aria-label={words.compte.caption} tabIndex={0}>
      <Table caption={words.compte.caption} columns={columns} rows={keys} keyOf={({ id }) => id} />
    </section>
  )
}
