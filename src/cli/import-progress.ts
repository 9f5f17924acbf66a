import type { ImportOptions, ImportStage } from '../portal/import.js'
import type { Progress } from './progress.js'

/** The stages in their order: what each is called, and its share of the time of a large import, in percent. */
const STAGES: Record<ImportStage, { name: string; share: number; unit?: string }> = {
  read: { name: 'reading', share: 40 },
  settle: { name: 'checking duplicates', share: 10 },
  copy: { name: 'copying the portal', share: 5 },
  merge: { name: 'merging', share: 12 },
  check: { name: 'checking references', share: 5 },
  derive: { name: 'deriving scores and counts', share: 10 },
  order: { name: 'building orders', share: 6 },
  fill: { name: 'writing tables', share: 10, unit: ' rows' },
  commit: { name: 'committing', share: 2 },
}

/** Shows the stages of an import as parts of one whole. `readPart` says how much of the input is read, where that is known. */
export function showImport(
  progress: Progress,
  readPart: (lines: number) => number | undefined,
): NonNullable<ImportOptions['onProgress']> {
  return (stage, done, of) => {
    const { name, share, unit = '' } = STAGES[stage]
    const isRead = stage === 'read'
    const within = isRead ? readPart(done) : of ? done / of : 0
    const whole = within === undefined ? undefined : (before(stage) + share * Math.min(1, within)) / 100
    progress.update({
      stage: name,
      part: whole,
      count: isRead ? `${done} lines` : of === undefined ? undefined : `${done} of ${of}${unit}`,
    })
  }
}

function before(stage: ImportStage): number {
  const earlier = Object.values(STAGES).slice(0, Object.keys(STAGES).indexOf(stage))
  return earlier.reduce((sum, { share }) => sum + share, 0)
}
