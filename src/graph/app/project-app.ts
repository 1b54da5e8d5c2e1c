/** The login and the routes that a project brings, as the front door asks them. */

import type { FindFit, IsAvoided } from './app-patterns.ts'

/** A request as `authenticate` sees it: without its body. */
export interface AskedRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A caller as the login made it: all its fields, and those that are always there. */
export interface AppUser {
  readonly identity: string
  readonly permissions: readonly string[]
  readonly is_authenticated: boolean
  readonly display_name: string
  readonly [field: string]: unknown
}

/** A refusal by a handler: an HTTP status from 400 to 599, what it says, and headers. */
export interface Refused {
  readonly kind: 'refused'
  readonly status: number
  readonly message: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The answer of a login to a request: its caller, or a refusal. */
export type LoginAnswer = { readonly kind: 'user'; readonly user: AppUser } | Refused

/** A question to a handler before something is done. */
export interface AskedAction {
  readonly resource: 'assistants' | 'threads' | 'crons' | 'store'
  readonly action: string
  readonly value: Readonly<Record<string, unknown>>
  readonly user: AppUser
}

/**
 * Answer of a handler. `value` is what it left of that of the question; `filter` is any JSON that
 * it returned, which restricts what is seen.
 */
export type ActionAnswer =
  | { readonly kind: 'allowed'; readonly value?: Readonly<Record<string, unknown>>;
    readonly filter?: Readonly<Record<string, unknown>> }
  | Refused

/** The login of a project. */
export interface ProjectLogin {
  /** Names of the events that have a handler, as `threads:create`, `threads`, `*:create`, `*`. */
  readonly events: readonly string[]
  authenticate(request: AskedRequest): Promise<LoginAnswer>
  on(asked: AskedAction): Promise<ActionAnswer>
}

/** Place where the app of a project answers now. */
export interface AppAddress {
  /** A port of this machine. */
  readonly port: number
  /** Proof that the server calls. */
  readonly token: string
}

/** The app of a project: which requests are its, and where it answers. */
export interface ProjectRoutes {
  /** Finds out how a request fits the app; undefined for one that it never gets. */
  readonly fit: FindFit
  /** Finds out whether a call would avoid a handler that gets the same operation elsewhere. */
  readonly isAvoided: IsAvoided
  /** True if a handler of the app has this very path. */
  hasPath(path: string): boolean
  /** True if the app takes WebSockets. */
  readonly takesSockets: boolean
  /** The OpenAPI document of the app; undefined if it has none. */
  readonly openApi: unknown
  /**
   * Waits while its thread is replaced, and for another address than `gone`, where nobody answers.
   * Throws `unavailable` if that takes too long.
   */
  address(gone?: AppAddress): Promise<AppAddress>
}

/** The app of a project that is loaded, and is not unloaded before `leave` is called. */
export interface OpenedApp {
  /** Undefined if the project brings none. */
  readonly app: ProjectApp | undefined
  leave(): void
}

/** Parts that a project brings besides its graphs. */
export interface ProjectApp {
  readonly login?: ProjectLogin
  readonly routes?: ProjectRoutes
}
