import type { Page } from '@palmares/client'
import { useEffect } from 'preact/hooks'
import { useAddress } from '../../address.js'
import { usePage } from '../../answers.js'
import { codeOf, startOf } from '../../api.js'
import { useLanguage } from '../../i18n/language.js'
import { List } from '../../parts/List.js'
import { PAGE_ROWS } from '../../parts/Pager.js'
import { Empty } from '../../parts/States.js'
import { type Column, Table } from '../../parts/Table.js'
import { useSession } from '../../session.js'
import type { Ranked } from '../../wire.js'
import { partOf } from './part.js'

export function Ranking() {
  const { words } = useLanguage()
  const { compte } = useSession()
  const { query, start } = useAddress()
  const { auteur } = query
  const asking = usePage('/classement', {
    query: {
      // One extra row, which is not shown: it tells whether the last row shares its place.
      limite: PAGE_ROWS + 1,
      ...(auteur ? { autour_de: auteur } : { debut_classement: start || undefined }),
      ...partOf(query),
    },
  })
  const { answer, error, isStale } = asking
  const isShown = answer !== undefined && !isStale

  useEffect(() => {
    if (!auteur || !isShown) return
    document.getElementById('sought')?.scrollIntoView({ block: 'center' })
  }, [auteur, isShown])

  if (error && codeOf(error) === 'resource_not_found' && auteur) {
    return (
      <Empty>
        <p>{auteur === compte?.id_auteur ? words.classement.notMine : words.classement.notFound}</p>
      </Empty>
    )
  }
  return (
    <List
      id="ranking"
      label={words.classement.title}
      asking={asking}
      countText={words.classement.count}
      emptyText={words.classement.empty}
    >
      {(rows, asked) => (
        <RankingTable rows={rows} shared={sharedPlaces(asked)} sought={auteur} own={compte?.id_auteur} />
      )}
    </List>
  )
}

interface RankingTableProps {
  rows: Ranked[]
  /** Places that several players share. */
  shared: Set<number>
  sought: string | undefined
  own: string | undefined
}

function RankingTable({ rows, shared, sought, own }: RankingTableProps) {
  const { words, number } = useLanguage()
  const isMarked = ({ id_auteur }: Ranked) => id_auteur === own || id_auteur === sought
  const columns: Column<Ranked>[] = [
    {
      head: words.classement.place,
      isNumber: true,
      width: 'clamp(3.8rem, 12vw, 5.5rem)',
      cell: (row) => (
        <span class={row.place <= 3 ? `place place-${row.place}` : 'place'}>
          {shared.has(row.place) && (
            <span class="faint" title={words.classement.shared}>
              =<span class="unseen"> {words.classement.shared}</span>{' '}
            </span>
          )}
          {number(row.place)}
        </span>
      ),
    },
    {
      head: words.classement.nom,
      isName: true,
      cell: (row) => (
        <>
          <a href={`/p/auteurs/${row.id_auteur}`} id={row.id_auteur === sought ? 'sought' : undefined}>
            {row.nom}
          </a>
          {row.id_auteur === own && <span class="tag">{words.classement.you}</span>}
        </>
      ),
    },
    {
      head: words.classement.score,
      isNumber: true,
      width: 'clamp(4rem, 14vw, 7rem)',
      cell: (row) => number(Number(row.score)),
    },
  ]
  return (
    <Table
      caption={words.classement.caption}
      columns={columns}
      rows={rows}
      keyOf={(row) => row.id_auteur}
      isCurrent={isMarked}
    />
  )
}

/** In a tie, every row after the first has a place that differs from its row number. */
function sharedPlaces(asked: Page<Ranked>): Set<number> {
  const start = startOf(asked)
  return new Set(asked.rows.map(({ place }) => place).filter((place, index) => place !== start + index + 1))
}
