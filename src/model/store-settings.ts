import { formatInstant, parseInstant } from '../instant.js'
import { lowerAscii } from '../text.js'

/**
 * The settings of a store: who is ranked, and how. They are part of the store, so all processes that serve it obey the same
 * ones. `palmares settings` changes them.
 */
export interface StoreSetting<V = unknown> {
  description: string
  /** What the command line takes. */
  form: string
  /** The value while it is not set. */
  default: V
  /** From the text of the command line; undefined if it is not of this form. */
  parse(text: string): V | undefined
  /** Whether it is a value of the setting, as the store keeps it in JSON. */
  has(value: unknown): value is V
}

export const TIE_BREAKS = ['aucun', 'date'] as const
export type TieBreak = (typeof TIE_BREAKS)[number]

const MAX_STATUTS = 100
const MAX_STATUT_CHARACTERS = 100

const statuts_masques: StoreSetting<readonly string[]> = {
  description: 'statuts without a place',
  form: `up to ${MAX_STATUTS} statuts, comma-separated; "" for none`,
  default: ['5poubelle'],
  parse(text) {
    const statuts = [...new Set(text.split(',').map((statut) => lowerAscii(statut.trim())))].filter(Boolean).sort()
    return this.has(statuts) ? statuts : undefined
  },
  has: (value): value is readonly string[] =>
    Array.isArray(value) &&
    value.length <= MAX_STATUTS &&
    value.every((each) => typeof each === 'string' && each !== '' && [...each].length <= MAX_STATUT_CHARACTERS),
}

const departage: StoreSetting<TieBreak> = {
  description: 'equal scores: shared places (aucun), or the first to reach it leads (date)',
  form: TIE_BREAKS.join(' or '),
  default: 'aucun',
  parse: (text) => TIE_BREAKS.find((each) => each === text),
  has: (value): value is TieBreak => TIE_BREAKS.some((each) => each === value),
}

const gel: StoreSetting<string | null> = {
  description: 'later validations are stored, and not shown until it is unset',
  form: 'a date and time such as 2026-01-31T12:00:00Z',
  default: null,
  parse(text) {
    const instant = parseInstant(text)
    return instant === undefined ? undefined : formatInstant(instant)
  },
  has: (value): value is string => typeof value === 'string' && parseInstant(value) !== undefined,
}

const MAX_JOURNAL_DAYS = 3_650

const journal_jours: StoreSetting<number> = {
  description: 'days that the journal of changes reaches back',
  form: `an integer from 1 to ${MAX_JOURNAL_DAYS}`,
  default: 30,
  parse(text) {
    const days = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined
    return this.has(days) ? days : undefined
  },
  has: (value): value is number =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_JOURNAL_DAYS,
}

export const STORE_SETTINGS = { statuts_masques, departage, gel, journal_jours }
export type SettingName = keyof typeof STORE_SETTINGS
export type SettingValue<N extends SettingName> = (typeof STORE_SETTINGS)[N] extends StoreSetting<infer V> ? V : never
export const SETTING_NAMES = Object.keys(STORE_SETTINGS) as SettingName[]
