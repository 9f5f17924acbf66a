/** The portal's word for a language as an attribute, where it is one: a screen reader then speaks it. */
export function langOf(word: string): string | undefined {
  return /^[a-z]{2,3}(-[a-z0-9]{2,8})?$/i.test(word) ? word : undefined
}
