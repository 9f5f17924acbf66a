import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  head: string
  cell(row: Row): ComponentChildren
  /** The cell that names the row. */
  isName?: boolean
  isNumber?: boolean
  /** Left out where the window is narrow; the naming cell then says it. */
  isWideOnly?: boolean
  /** How much of the width; what is left is shared. */
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
