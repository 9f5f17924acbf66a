export type { Fetch } from './attempt.js'
export { type Cache, type CacheEntry, MemoryCache } from './cache.js'
export { PalmaresError, PalmaresNetworkError, PalmaresTimeoutError } from './errors.js'
export { type AddressOptions, type Page, Palmares } from './palmares.js'
export type { components, paths } from './schema.js'
export type { PalmaresOptions } from './settings.js'
export type {
  Body,
  DeleteOptions,
  DeletePath,
  ErrorCode,
  ListPath,
  PostOptions,
  PostPath,
  Problem,
  ReadOptions,
  ReadPath,
  RequestOptions,
  Row,
} from './types.js'
