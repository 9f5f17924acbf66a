import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { keep, recall } from '../storage.js'
import { en } from './en.js'
import { fr, type Words } from './fr.js'

type Lang = 'fr' | 'en'

/** The UI texts of one language, with its number and date formats. */
export interface Language {
  lang: Lang
  /** For Intl. */
  locale: string
  words: Words
  number(value: number): string
  /** The day of a timestamp of the API. */
  day(instant: string): string
  dayAndTime(instant: string): string
  bytes(value: number): string
  duration(seconds: number): string
  month(month: number): string
  toggle(): void
}

const STORED_AS = 'palmares.lang'
const Context = createContext<Language | undefined>(undefined)

/** The language the reader chose, or the one the server chose by Accept-Language. */
export function LanguageProvider({ children }: { children: ComponentChildren }) {
  const [lang, setLang] = useState<Lang>(chosen)
  useLayoutEffect(() => {
    document.documentElement.lang = lang
  }, [lang])
  const language = useMemo(
    () =>
      makeLanguage(lang, () => {
        const other = lang === 'fr' ? 'en' : 'fr'
        keep('localStorage', STORED_AS, other)
        setLang(other)
      }),
    [lang],
  )
  return <Context.Provider value={language}>{children}</Context.Provider>
}

export function useLanguage(): Language {
  const language = useContext(Context)
  if (!language) throw new Error('useLanguage needs a LanguageProvider')
  return language
}

function chosen(): Lang {
  const lang = recall('localStorage', STORED_AS) ?? document.documentElement.lang
  return lang === 'en' ? 'en' : 'fr'
}

function makeLanguage(lang: Lang, toggle: () => void): Language {
  const locale = lang === 'fr' ? 'fr-FR' : 'en-GB'
  const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const dayAndTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const month = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
  const inUnit = (value: number, unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(value)
  return {
    lang,
    locale,
    words: lang === 'fr' ? fr : en,
    number: (value) => decimal.format(value),
    day: (instant) => day.format(new Date(instant)),
    dayAndTime: (instant) => dayAndTime.format(new Date(instant)),
    bytes: (value) => {
      const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
      const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3))
      return inUnit(value / 1000 ** power, units[power] as string)
    },
    duration: (seconds) => {
      const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
      if (hours === 0 && minutes === 0) return inUnit(seconds, 'second')
      const parts = [hours > 0 && inUnit(hours, 'hour'), minutes > 0 && inUnit(minutes, 'minute')]
      return parts.filter(Boolean).join(' ')
    },
    month: (number) => month.format(new Date(Date.UTC(2001, number - 1, 1))),
    toggle,
  }
}
