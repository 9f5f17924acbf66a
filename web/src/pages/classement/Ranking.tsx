import type { Page } from '@palmares/client'
import { useEffect } from 'preact/hooks'
import { useAddress } from '../../address.js'
import { usePage } from '../../answers.js'
import { codeOf, rowOf } from '../../api.js'
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
      limite: PAGE_ROWS,
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
      start={auteur && answer ? startOf(answer) : start}
      countText={words.classement.count}
      emptyText={words.classement.empty}
    >
      {(rows) => (
        <RankingTable
          rows={rows}
          start={auteur && answer ? startOf(answer) : start}
          sought={auteur}
          own={compte?.id_auteur}
        />
      )}
    </List>
  )
}

interface RankingTableProps {
  rows: Ranked[]
  /** The row of the ranking that the first of these is. */
  start: number
  sought: string | undefined
  own: string | undefined
}

function RankingTable({ rows, start, sought, own }: RankingTableProps) {
  const { words, number } = useLanguage()
  const isMarked = ({ id_auteur }: Ranked) => id_auteur === own || id_auteur === sought
  const shared = new Set(rows.filter(({ place }, i) => place !== start + i + 1).map(({ place }) => place))
  const isShared = ({ place }: Ranked) => shared.has(place)
  const columns: Column<Ranked>[] = [
    {
      head: words.classement.place,
      isNumber: true,
      width: 'clamp(3.8rem, 12vw, 5.5rem)',
      cell: (row) => (
        <span class={row.place <= 3 ? `place place-${row.place}` : 'place'}>
          {isShared(row) && (
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

/** The row that a page around an author starts at, by what the server says of the page after it, or of all rows. */
function startOf({ rows, total, next }: Page<Ranked>): number {
  return Math.max(0, (rowOf(next) ?? total ?? 0) - (next === undefined ? rows.length : PAGE_ROWS))
}
