/** The forms that the text of an option or a variable takes: each is read to its value, or refused with what it takes. */
import { isIP } from 'node:net'
import { InvalidArgumentError } from 'commander'

export function readFlag(text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  throw new InvalidArgumentError('It takes true or false.')
}

export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It takes an integer from ${min} to ${max}.`)
    }
    return value
  }
}

export function oneOf(words: string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new InvalidArgumentError(`It takes one of ${words.join(', ')}.`)
    return text
  }
}

export function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (!isPlain) throw new InvalidArgumentError('It takes an address such as https://api.example/, without a query.')
  return url.href
}

export function originList(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new InvalidArgumentError('It takes origins such as https://tableau.example, without a path.')
    }
  }
  return origins
}

const PROXY_RANGES = ['loopback', 'linklocal', 'uniquelocal']

export function proxyList(text: string): string {
  for (const item of text.split(',').map((item) => item.trim())) {
    if (!PROXY_RANGES.includes(item) && !isAddressOrRange(item)) {
      throw new InvalidArgumentError(
        `It takes ${PROXY_RANGES.join(', ')}, addresses and ranges such as 10.0.0.0/8, comma-separated.`,
      )
    }
  }
  return text
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const maxBits = isIP(address) === 6 ? 128 : 32
  const isRange = bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= maxBits)
  return isIP(address) > 0 && isRange && rest.length === 0
}
