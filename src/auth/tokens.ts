import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Every API key begins so, for people and secret scanners to recognise. */
const KEY_PREFIX = 'palm_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 50 characters of 62 are 297 random bits; the 6 that `prefixe` shows leave 261. */
const RANDOM_CHARACTERS = 50
const CHECKSUM_CHARACTERS = 6
const SHOWN_CHARACTERS = KEY_PREFIX.length + 6
const API_KEY = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`)

const SESSION_BYTES = 32
const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/

/** A new API key: the prefix, random characters, and a CRC-32 of both. */
export function makeApiKey(): string {
  const text = KEY_PREFIX + randomCharacters(RANDOM_CHARACTERS)
  return text + checksum(text)
}

/** Whether a text is an API key by its form and checksum; only then is the store asked. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && checksum(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS)
}

/** The part of a key that lists may show. */
export function shownPrefix(key: string): string {
  return key.slice(0, SHOWN_CHARACTERS)
}

/** A new session token, 256 random bits. */
export function makeSessionToken(): string {
  return randomBytes(SESSION_BYTES).toString('base64url')
}

export function isSessionToken(text: string): boolean {
  return SESSION_TOKEN.test(text)
}

/** What the store keeps of a session or a key: its SHA-256, in hex. */
export function digest(secret: string): string {
  return hash('sha256', secret)
}

/** Compares two digests in constant time. */
export function isSameDigest(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function checksum(text: string): string {
  let rest = crc32(text)
  let characters = ''
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    characters = ALPHABET[rest % ALPHABET.length] + characters
    rest = Math.floor(rest / ALPHABET.length)
  }
  return characters
}

function randomCharacters(count: number): string {
  return Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}
