import type { Page } from '@palmares/client'
import type { ComponentChildren } from 'preact'
import { useAddress } from '../address.js'
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
  /** Renders the rows. `asked.rows` also has the extra row if the list requested one more than it shows. */
  children(rows: R[], asked: Page<R>): ComponentChildren
}

/** One page of a list: the total, the rows and the links to other pages. */
export function List<R>({ id, label, asking, countText, emptyText, children }: ListProps<R>) {
  const { words, number } = useLanguage()
  const { path, query } = useAddress()
  const isFiltered = Object.values(query).some(Boolean)
  const total = asking.answer?.total
  return (
    <section id={id} class="list" aria-label={label} tabIndex={-1}>
      <p class="count" role="status">
        {asking.answer && total !== undefined && countText(total, number(total))}
        {asking.answer && total === undefined && countText(1001, `${number(1000)}+`)}
      </p>
      <Loaded asking={asking} skeleton={<Skeleton rows={PAGE_ROWS} />}>
        {(asked) => {
          // From the answer, not the URL: until the next page is loaded, the answer belongs to the previous one.
          const start = startOf(asked)
          const rows = asked.rows.slice(0, PAGE_ROWS)
          const next = asked.rows.length > PAGE_ROWS ? start + PAGE_ROWS : rowOf(asked.next)
          if (rows.length === 0 && start === 0) {
            return (
              <Empty>
                <p>{emptyText}</p>
                {isFiltered && <a href={path}>{words.filters.clear}</a>}
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
