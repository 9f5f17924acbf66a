import { useAddress } from '../address.js'
import { usePage } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { SearchField } from '../parts/Field.js'
import { GroupeFilter } from '../parts/GroupeFilter.js'
import { List } from '../parts/List.js'
import { PAGE_ROWS } from '../parts/Pager.js'
import { Title } from '../parts/Title.js'

export default function Auteurs() {
  const { words } = useLanguage()
  const { query, start, change } = useAddress()
  const { nom = '', groupe = '' } = query
  const asking = usePage('/auteurs', {
    query: { limite: PAGE_ROWS, debut_auteurs: start || undefined, nom: nom || undefined, groupe: groupe || undefined },
  })
  return (
    <>
      <Title text={words.auteurs.title} />
      <search class="filters row card" aria-label={words.filters.label}>
        <SearchField
          label={words.auteurs.search}
          value={nom}
          onSearch={(value) => change({ nom: value, debut: undefined }, { replace: true })}
        />
        <GroupeFilter value={groupe} onChange={(chosen, how) => change({ groupe: chosen, debut: undefined }, how)} />
      </search>
      <List
        id="auteurs"
        label={words.auteurs.list}
        asking={asking}
        countText={words.auteurs.count}
        emptyText={words.auteurs.empty}
      >
        {(rows) => (
          <ul class="names">
            {rows.map((auteur) => (
              <li key={auteur.id_auteur}>
                <a href={`/p/auteurs/${auteur.id_auteur}`}>{auteur.nom}</a>
              </li>
            ))}
          </ul>
        )}
      </List>
    </>
  )
}
