/** Operations of the API: each is written once, for its route, its clients and its documents. */

import { Type } from 'typebox'
import type { Static, TObject, TSchema } from 'typebox'

/**
 * The access that an operation needs.
 *
 * public  open to everybody, and says nothing of any tenant
 * shown   reads what its owner may have made public, also without credentials
 * read    only reads
 * change  all others
 * self    reads about the caller itself
 * deploy  reads or changes deployments: for admins and deployers
 * admin   reads or changes what only admins may know of: keys, the cluster
 */
export type Access = 'public' | 'shown' | 'read' | 'change' | 'self' | 'deploy' | 'admin'

/** An event of the SDK's `Auth`: a resource, and an action on it. */
export type AskedEvent =
  | `${'assistants' | 'crons' | 'threads'}:${'create' | 'read' | 'update' | 'delete' | 'search'}`
  | 'threads:create_run'
  | `store:${'put' | 'get' | 'delete' | 'search' | 'list_namespaces'}`

/** The events that an operation asks for, or the reason why it asks for none. */
export type Asks = AskedEvent | readonly AskedEvent[] | { readonly nothing: string }

/** Methods of operations. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Headers that only some good answers have. */
export type AnswerHeader = 'content-location' | 'location' | 'x-heddle-warning'
  | 'x-pagination-total' | 'x-pagination-next' | 'x-pagination-cursor'

/** Everything that is written of an operation beside its address. */
export interface Terms {
  readonly access: Access
  /**
   * Events that the login of a project is asked for. All operations of the Agent Deployment API say
   * it; the others go by the keys of the server.
   */
  readonly asks?: Asks
  /** One line for the documentation. */
  readonly summary: string
  /** Of the path; by default each of its parts is a text. */
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** Headers of requests that only some operations read. They are described, and not checked. */
  readonly headers?: TObject
  /** True for a body that is read and checked elsewhere, as by a thread of the platform. */
  readonly raw?: true
  /** The JSON of a good answer; missing if there is none. It changes no answer. */
  readonly answer?: TSchema
  /** The same with all members of its records, where requests may select some. */
  readonly whole?: TSchema
  /** Of an answer that is a stream, and no JSON: what is sent. */
  readonly events?: string
  /** Of an answer that is no JSON: its media type, as `text/csv`. */
  readonly media?: string
  /** Of a good answer: by default 200, and 204 without a body. */
  readonly status?: 101 | 200 | 201 | 202 | 207 | 302
  /** The JSON of good answers with another status. */
  readonly also?: Readonly<Record<number, TSchema>>
  /** Good answers without JSON, and the meaning of each status. */
  readonly silent?: Readonly<Record<number, string>>
  /** Headers that only some good answers have. */
  readonly returns?: readonly AnswerHeader[]
}

/** An operation. Its path has parts such as `:id`. */
export type Operation<Verb extends Method = Method, Path extends string = string,
  Details extends Terms = Terms> = Details & { readonly method: Verb; readonly path: Path }

/** Declares an operation. */
export function operation<const Verb extends Method, const Path extends `/${string}`,
  Details extends Terms>(method: Verb, path: Path, terms: Details): Operation<Verb, Path, Details> {
  const names = path.split('/').filter((part) => part.startsWith(':'))
  const texts = Type.Object(
    Object.fromEntries(names.map((name) => [name.slice(1), Type.String()])),
  )
  return { ...names.length > 0 && { params: texts }, ...terms, method, path }
}

/** The values that a schema describes. */
export type Value<Schema extends TSchema> = Shown<Static<Schema>>

type Shown<Given> = Given extends readonly (infer Each)[] ? readonly Shown<Each>[]
  : Given extends object ? { readonly [Name in keyof Given]: Shown<Given[Name]> }
  : Given

/** Parts of the path of a request. */
export type Params<Of extends Operation> = Of extends
  { readonly params: infer Schema extends TObject } ? Value<Schema>
  : { readonly [Name in NamesIn<Of['path']>]: string }

type NamesIn<Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? NamesIn<First> | NamesIn<Rest>
  : Path extends `:${infer Name}` ? Name
  : never

/** The query of a request. */
export type Query<Of extends Operation> = Of extends
  { readonly query: infer Schema extends TObject } ? Value<Schema>
  : object

/** The body of a request. */
export type Body<Of extends Operation> = Of extends { readonly body: infer Schema extends TSchema }
  ? Value<Schema>
  : undefined

/** The JSON of good answers with another status. */
export type Also<Of extends Operation> = Of extends { readonly also: infer Schemas }
  ? OneValue<Schemas[keyof Schemas]>
  : never

type OneValue<Schema> = Schema extends TSchema ? Value<Schema> : never

/** The body of a request as its route has it: unknown where it is read elsewhere. */
export type CheckedBody<Of extends Operation> = Of extends { readonly raw: true } ? unknown
  : Body<Of>

/** The JSON of a good answer. */
export type Answer<Of extends Operation> = Of extends
  { readonly answer: infer Schema extends TSchema } ? Value<Schema> : void
