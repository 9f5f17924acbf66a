import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Section {
  title: string
  text: string
}

/** A row of a table, by column name, without code marks and bold. */
export type Row = Record<string, string>

const FOREIGN_FOLDERS = new Set(['node_modules', 'dist', 'dist-bench', 'coverage', 'data', '.git'])

/** Every Markdown file of the project, as paths from its root. */
export function markdownFiles(folder = '.'): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return FOREIGN_FOLDERS.has(entry.name) ? [] : markdownFiles(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** The part of a file under each heading, down to the next one of any level. */
export function sections(file: string): Section[] {
  const found: Section[] = [{ title: '', text: '' }]
  let isCode = false
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? undefined : /^#+ (.+)$/.exec(line)?.[1]
    if (heading === undefined) found.at(-1)!.text += `${line}\n`
    else found.push({ title: plain(heading), text: '' })
  }
  return found
}

export function section(file: string, title: string): string {
  const found = sections(file).find((each) => each.title === title)
  if (!found) throw new Error(`${file} has no section ${title}`)
  return found.text
}

/** The rows of the table whose first column has this name; empty if there is no such table. */
export function table(text: string, firstColumn: string): Row[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`| ${firstColumn} |`))
  if (start < 0) return []
  const head = cells(lines[start]!)
  const rest = lines.slice(start + 2)
  const end = rest.findIndex((line) => !line.startsWith('|'))
  return rest.slice(0, end).map((line) => Object.fromEntries(cells(line).map((cell, i) => [head[i], cell])))
}

/** The text without code blocks. */
export function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

/** The anchor of a heading, as common renderers generate it. */
export function anchor(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replace(/ /g, '-')
}

function cells(line: string): string[] {
  return line.slice(1, -1).split('|').map(plain)
}

function plain(text: string): string {
  return text.replace(/\*\*|`/g, '').trim()
}
