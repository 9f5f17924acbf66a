import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  head: string
  cell(row: Row): ComponentChildren
  /** This cell is the row header. */
  isName?: boolean
  isNumber?: boolean
  /** Hidden in a narrow window, where the row header shows the same data. */
  isWideOnly?: boolean
  /** CSS width. Columns without one share the rest. */
  width?: string
}

interface TableProps<Row> {
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf(row: Row): string | number
  isCurrent?(row: Row): boolean
}

export function Table<Row>({ caption, columns, rows, keyOf, isCurrent }: TableProps<Row>) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.head} scope="col" class={classOf(column)} style={{ width: column.width }}>
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} aria-current={isCurrent?.(row) ? 'true' : undefined}>
            {columns.map((column) => {
              const Cell = column.isName ? 'th' : 'td'
              return (
                <Cell key={column.head} scope={column.isName ? 'row' : undefined} class={classOf(column)}>
                  {column.cell(row)}
                </Cell>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function classOf({ isNumber, isWideOnly }: Pick<Column<never>, 'isNumber' | 'isWideOnly'>): string | undefined {
  return [isNumber && 'number', isWideOnly && 'wide-only'].filter(Boolean).join(' ') || undefined
}
