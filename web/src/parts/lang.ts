/** The portal's language code as a `lang` attribute, if it is valid, so that screen readers use the right voice. */
export function langOf(word: string): string | undefined {
  return /^[a-z]{2,3}(-[a-z0-9]{2,8})?$/i.test(word) ? word : undefined
}
