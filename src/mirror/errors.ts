/** A pass cannot go on, or a store cannot be a copy. The message is one line for the operator, without anything secret. */
export class MirrorError extends Error {
  constructor(
    message: string,
    /** When the other side may be asked again, in milliseconds since 1970, where it said so. */
    readonly retryAt?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'MirrorError'
  }
}

/** What one address answers cannot be used, though others may be as they should. */
export class BadAnswer extends MirrorError {}

/** Nothing whole came, or nothing that can be used now; it may be better a moment later. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** How long the other side asks to be left alone. */
    readonly retryAfterMilliseconds?: number,
    /** Of an answer that came. */
    readonly status?: number,
  ) {
    super(message)
    this.name = 'NoAnswer'
  }
}
