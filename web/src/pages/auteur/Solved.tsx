import { useAddress } from '../../address.js'
import { useLanguage } from '../../i18n/language.js'
import { PAGE_ROWS, Pager } from '../../parts/Pager.js'
import { Empty } from '../../parts/States.js'
import { Table } from '../../parts/Table.js'
import { Time } from '../../parts/Time.js'
import type { Solved as SolvedRow } from '../../wire.js'

/** The player's solves, latest first. The detail response contains all of them, so this component paginates. */
export function Solved({ validations }: { validations: SolvedRow[] }) {
  const { words, number } = useLanguage()
  const { start } = useAddress()
  const rows = validations.slice(start, start + PAGE_ROWS)
  const total = validations.length
  if (total === 0) {
    return (
      <Empty>
        <p>{words.auteur.none}</p>
      </Empty>
    )
  }
  return (
    <section id="solved" class="list" aria-label={words.auteur.solved} tabIndex={-1}>
      <Table
        caption={words.auteur.solved}
        columns={[
          {
            head: words.auteur.challenge,
            isName: true,
            cell: ({ id_challenge, titre }) => <a href={`/p/challenges/${id_challenge}`}>{titre}</a>,
          },
          { head: words.challenges.score, isNumber: true, width: '3.5rem', cell: ({ score }) => number(score) },
          { head: words.auteur.date, isNumber: true, width: '7.4rem', cell: ({ date }) => <Time instant={date} /> },
        ]}
        rows={rows}
        keyOf={({ id_challenge }) => id_challenge}
      />
      <Pager
        listId="solved"
        start={start}
        rows={rows.length}
        total={total}
        next={start + PAGE_ROWS < total ? start + PAGE_ROWS : undefined}
      />
    </section>
  )
}
