import type { Page } from '@palmares/client'
import type { ComponentChildren } from 'preact'
import type { Asking } from '../answers.js'
import { rowOf, startOf } from '../api.js'
import { useLanguage } from '../i18n/language.js'
import { PAGE_ROWS, Pager } from './Pager.js'
import { Empty, Loaded, Skeleton } from './States.js'

interface ListProps<R> {
  id: string
  label: string
  asking: Asking<Page<R>>
  countText(count: number, shown: string): string
  emptyText: string
  /** Draws the rows; `asked` holds the one after them too, where the list was asked for one more. */
  children(rows: R[], asked: Page<R>): ComponentChildren
}

/** One page of a list: how many there are, the rows, and the way to the other pages. */
export function List<R>({ id, label, asking, countText, emptyText, children }: ListProps<R>) {
  const { words, number } = useLanguage()
  const total = asking.answer?.total
  return (
    <section id={id} class="list" aria-label={label} tabIndex={-1}>
      <p class="count" role="status">
        {asking.answer && total !== undefined && countText(total, number(total))}
        {asking.answer && total === undefined && countText(1001, `${number(1000)}+`)}
      </p>
      <Loaded asking={asking} skeleton={<Skeleton rows={PAGE_ROWS} />}>
        {(asked) => {
          // Not what this address says: while it is on its way, the answer is still that of another.
          const start = startOf(asked)
          const rows = asked.rows.slice(0, PAGE_ROWS)
          const next = asked.rows.length > PAGE_ROWS ? start + PAGE_ROWS : rowOf(asked.next)
          if (rows.length === 0 && start === 0) {
            return (
              <Empty>
                <p>{emptyText}</p>
              </Empty>
            )
          }
          return (
            <>
              {rows.length > 0 ? children(rows, asked) : <Empty>{words.pager.past}</Empty>}
              <Pager listId={id} start={start} rows={rows.length} total={total} next={next} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
