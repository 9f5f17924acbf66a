import { useState } from 'preact/hooks'
import { asFailed, type Failed, portal } from '../../api.js'
import { useLanguage } from '../../i18n/language.js'
import { Dialog } from '../../parts/Dialog.js'
import { Empty, ErrorText } from '../../parts/States.js'
import { type Column, Table } from '../../parts/Table.js'
import { Hour, Time } from '../../parts/Time.js'
import type { ApiKey } from '../../wire.js'

/** The valid keys, and the way to end one. */
export function Keys({ keys, onChange }: { keys: ApiKey[]; onChange(): void }) {
  const { words } = useLanguage()
  const [asked, ask] = useState<ApiKey>()
  const [told, tell] = useState('')
  const [error, setError] = useState<Failed>()

  const revoke = async (key: ApiKey) => {
    ask(undefined)
    setError(undefined)
    try {
      await portal.delete('/cles_api/{id}', { path: { id: key.id } })
      tell(words.compte.revoked(key.nom))
      // The button that had the focus is gone.
      document.getElementById('keys')?.focus()
      onChange()
    } catch (failed) {
      setError(asFailed(failed))
    }
  }

  return (
    <>
      <p class="count" role="status">
        {told}
      </p>
      <div role="alert">{error && <ErrorText error={error} />}</div>
      {keys.length === 0 ? (
        <Empty>
          <p>{words.compte.empty}</p>
        </Empty>
      ) : (
        <KeyTable keys={keys} onRevoke={ask} />
      )}
      {asked && (
        <Dialog title={words.compte.revokeAsk(asked.nom)} onClose={() => ask(undefined)}>
          <p>{words.compte.revokeText}</p>
          <div class="actions">
            <button type="button" onClick={() => ask(undefined)}>
              {words.compte.keep}
            </button>
            <button type="button" class="danger" onClick={() => void revoke(asked)}>
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
            {words.compte.expires} <Time instant={key.expiration} />
          </span>
          <span class="sub narrow-only">
            {words.compte.lastUsed} : {used(key)}
          </span>
        </>
      ),
    },
    { head: words.compte.prefix, isWideOnly: true, cell: ({ prefixe }) => <code>{prefixe}…</code> },
    { head: words.compte.scopes, isWideOnly: true, cell: ({ portee }) => portee.join(', ') },
    { head: words.compte.created, isWideOnly: true, cell: ({ creation }) => <Time instant={creation} /> },
    { head: words.compte.expires, isWideOnly: true, cell: ({ expiration }) => <Time instant={expiration} /> },
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be in reach of the keyboard
    <section class="scroller" aria-label={words.compte.caption} tabIndex={0}>
      <Table caption={words.compte.caption} columns={columns} rows={keys} keyOf={({ id }) => id} />
    </section>
  )
}
