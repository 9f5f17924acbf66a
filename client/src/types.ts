import type { components, paths } from './schema.js'

/** The body of every error of the API. */
export type Problem = components['schemas']['Problem']

/** The error codes. A newer server may have more. */
export type ErrorCode = Problem['code']

/** The paths of `get`. `GET /login` is left out, because a password does not belong in a URL. */
export type ReadPath = Exclude<PathsOf<'get'>, '/login'>
export type PostPath = PathsOf<'post'>
export type DeletePath = PathsOf<'delete'>
/** The paginated lists. */
export type ListPath = { [P in ReadPath]: IsList<Operation<P, 'get'>> extends true ? P : never }[ReadPath]

/** The body of a successful response; undefined if there is none. */
export type Body<P, M extends Method = 'get'> = SuccessBody<Operation<P, M>>
/** A row of a list, also of `/auteurs`, which is sent as an object. */
export type Row<P extends ListPath> = Body<P> extends readonly (infer R)[] ? R : Body<P>[keyof Body<P>]

export interface RequestOptions {
  /** Aborts the request, also during a wait before a retry. */
  signal?: AbortSignal | undefined
}

export type ReadOptions<P> = RequestOptions & PathOption<Operation<P, 'get'>> & QueryOption<Operation<P, 'get'>>
export type PostOptions<P> = RequestOptions & PathOption<Operation<P, 'post'>> & { body: SentBody<P> }
export type DeleteOptions<P> = RequestOptions & PathOption<Operation<P, 'delete'>>

/** The options of an operation. The argument is optional if none of them is required. */
export type Arguments<Options> = object extends Options ? [options?: Options] : [options: Options]

type Method = 'get' | 'post' | 'delete'
type PathsOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths]
type Operation<P, M extends Method> = P extends keyof paths ? paths[P][M] : never

type IsList<O> = [QueryOf<O>] extends [never] ? false : 'limite' extends keyof QueryOf<O> ? true : false
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never

type SuccessBody<O> = O extends { responses: infer R }
  ? { [S in Success & keyof R]: Json<R[S]> }[Success & keyof R]
  : never
type Success = 200 | 201 | 204
type Json<Response> = Response extends { content: { 'application/json': infer B } } ? B : undefined

/** `/validations` takes one line or many. */
type SentBody<P> = P extends '/validations' ? Line | readonly Line[] : Sent<Operation<P, 'post'>>
type Line = Sent<Operation<'/validations', 'post'>>
type Sent<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : never

type PathOption<O> = O extends { parameters: { path: infer V extends object } }
  ? { path: { [K in keyof V]: Digits<V[K]> } }
  : { path?: never }
type QueryOption<O> = [QueryOf<O>] extends [never]
  ? { query?: never }
  : { query?: { [K in keyof QueryOf<O>]: Digits<QueryOf<O>[K]> | undefined } | undefined }

/** Numbers may also be passed as text, because `id_auteur` is text in every response. */
type Digits<T> = T extends number ? number | string : T extends readonly (infer U)[] ? readonly Digits<U>[] : T
