/** A pass cannot go on, or a store cannot be a copy. The message is one line for the operator, without anything secret. */
export class MirrorError extends Error {
  constructor(
    message: string,
    /** When the portal may be asked again, in milliseconds since 1970, if it said so. */
    readonly retryAt?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'MirrorError'
  }
}

/** One address gave an unusable answer; others may be fine. */
export class BadAnswer extends MirrorError {}

/** No complete answer, or one that asks to retry later. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** How long the portal asks to wait. */
    readonly retryAfterMilliseconds?: number,
    /** The status, if there was an answer. */
    readonly status?: number,
  ) {
    super(message)
    this.name = 'NoAnswer'
  }
}
