import { useAddress } from '../address.js'
import { usePage } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { SearchField, Select } from '../parts/Field.js'
import { List } from '../parts/List.js'
import { PAGE_ROWS } from '../parts/Pager.js'
import { Table } from '../parts/Table.js'
import { Title } from '../parts/Title.js'

/** Systems that the filter always offers. It adds those of the listed rows and the one in the URL. */
const SYSTEMS = ['Linux', 'Windows']

export default function Environnements() {
  const { words } = useLanguage()
  const { query, start, change } = useAddress()
  const { nom = '', os = '' } = query
  const asking = usePage('/environnements_virtuels', {
    query: {
      limite: PAGE_ROWS,
      debut_environnements_virtuels: start || undefined,
      nom: nom || undefined,
      os: os || undefined,
    },
  })
  const inSight = asking.answer?.rows ?? []
  const systems = new Set([...SYSTEMS, ...inSight.map((row) => row.os), os].filter(Boolean))
  return (
    <>
      <Title text={words.environnements.title} />
      <search class="filters row card" aria-label={words.filters.label}>
        <SearchField
          label={words.environnements.search}
          value={nom}
          onSearch={(value) => change({ nom: value, debut: undefined }, { replace: true })}
        />
        <Select
          label={words.environnements.os}
          value={os}
          options={[{ value: '', text: words.filters.anyOs }, ...[...systems].map((value) => ({ value, text: value }))]}
          onChange={(value) => change({ os: value, debut: undefined })}
        />
      </search>
      <List
        id="environnements"
        label={words.environnements.title}
        asking={asking}
        countText={words.environnements.count}
        emptyText={words.environnements.empty}
      >
        {(rows) => (
          <Table
            caption={words.environnements.caption}
            columns={[
              {
                head: words.environnements.search,
                isName: true,
                cell: (row) => <a href={`/p/environnements/${row.id_environnement_virtuel}`}>{row.nom}</a>,
              },
              { head: words.environnements.os, width: '30%', cell: (row) => row.os },
            ]}
            rows={rows}
            keyOf={({ id_environnement_virtuel }) => id_environnement_virtuel}
          />
        )}
      </List>
    </>
  )
}
