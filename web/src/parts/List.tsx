import type { Page } from '@palmares/client'
import type { ComponentChildren } from 'preact'
import type { Asking } from '../answers.js'
import { rowOf } from '../api.js'
import { useLanguage } from '../i18n/language.js'
import { PAGE_ROWS, Pager } from './Pager.js'
import { Empty, Loaded, Skeleton } from './States.js'

interface ListProps<R> {
  id: string
  label: string
  asking: Asking<Page<R>>
  start: number
  countText(count: number, shown: string): string
  emptyText: string
  children(rows: R[]): ComponentChildren
}

/** One page of a list: how many there are, the rows, and the way to the other pages. */
export function List<R>({ id, label, asking, start, countText, emptyText, children }: ListProps<R>) {
  const { words, number } = useLanguage()
  const total = asking.answer?.total
  return (
    <section id={id} class="list" aria-label={label} tabIndex={-1}>
      <p class="count" role="status">
        {asking.answer && total !== undefined && countText(total, number(total))}
        {asking.answer && total === undefined && countText(1001, `${number(1000)}+`)}
      </p>
      <Loaded asking={asking} skeleton={<Skeleton rows={PAGE_ROWS} />}>
        {({ rows, next }) => {
          if (rows.length === 0 && start === 0) {
            return (
              <Empty>
                <p>{emptyText}</p>
              </Empty>
            )
          }
          return (
            <>
              {rows.length > 0 ? children(rows) : <Empty>{words.pager.past}</Empty>}
              <Pager listId={id} start={start} rows={rows.length} total={total} next={rowOf(next)} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
