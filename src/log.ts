/** Lines for the operator, from parts that know no other part of the server. */
export interface Log {
  info(message: string): void
  warn(message: string): void
}
