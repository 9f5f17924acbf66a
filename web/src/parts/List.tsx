import type { ComponentChildren } from 'preact'
import type { Asking } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { PAGE_ROWS, Pager } from './Pager.js'
import { Empty, Loaded, Skeleton } from './States.js'

interface ListProps<T> {
  id: string
  label: string
  asking: Asking<T>
  start: number
  rowsOf(body: T): number
  countText(count: number, shown: string): string
  emptyText: string
  children(body: T): ComponentChildren
}

/** One page of a list: how many there are, the rows, and the way to the other pages. */
export function List<T>({ id, label, asking, start, rowsOf, countText, emptyText, children }: ListProps<T>) {
  const { words, number } = useLanguage()
  const total = asking.answer?.total
  return (
    <section id={id} class="list" aria-label={label} tabIndex={-1}>
      <p class="count" role="status">
        {asking.answer && total !== undefined && countText(total, number(total))}
        {asking.answer && total === undefined && countText(1001, `${number(1000)}+`)}
      </p>
      <Loaded asking={asking} skeleton={<Skeleton rows={PAGE_ROWS} />}>
        {({ body, next }) => {
          const rows = rowsOf(body)
          if (rows === 0 && start === 0) {
            return (
              <Empty>
                <p>{emptyText}</p>
              </Empty>
            )
          }
          return (
            <>
              {rows > 0 ? children(body) : <Empty>{words.pager.past}</Empty>}
              <Pager listId={id} start={start} rows={rows} total={total} next={next} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
